package lane_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// keyed is a lane with room for much, where each key has the limit perKey.
func keyed(perKey int) func(testing.TB) lane.Lane {
	return func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 16, PerKey: perKey})
	}
}

func limiter(w *crew) *lane.Threads { return w.lane.(*lane.Threads) }

// Two devices, a spinning disk and one that likes depth.
func TestAsManyCallsRunPerKeyAsItsLimitAllows(t *testing.T) {
	l := threads(t, lane.Config{Workers: 16, PerKey: 1})
	defer shut(t, l)
	require.NoError(t, l.SetKeyLimit("D2", 8))
	limits := map[string]int64{"D1": 1, "D2": 8}
	peaks := map[string]*atomic.Int64{"D1": new(atomic.Int64), "D2": new(atomic.Int64)}
	var wg sync.WaitGroup
	for key, limit := range limits {
		var inside atomic.Int64
		full := make(chan struct{})
		for range 100 {
			wg.Go(func() {
				s, err := l.Enter(t.Context(), lane.Call{Key: key})
				if err != nil {
					t.Error(err)
					return
				}
				n := inside.Add(1)
				for p := peaks[key].Load(); n > p && !peaks[key].CompareAndSwap(p, n); p = peaks[key].Load() {
				}
				if n == limit {
					select {
					case <-full:
					default:
						close(full) // nobody else is the limit-th before it leaves
					}
				}
				<-full // the first ones wait for one another
				runtime.Gosched()
				inside.Add(-1)
				l.Leave(s)
			})
		}
	}
	wg.Wait()
	for key, want := range limits {
		if got := peaks[key].Load(); got != want {
			t.Errorf("at most %d calls of %s ran at a time, want %d", got, key, want)
		}
	}
}

func TestAKeyKeepsItsLimitAcrossShards(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return sharded(t, lane.ShardedConfig{Shards: 4, Config: lane.Config{Workers: 8, PerKey: 2}})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		for i := range 20 {
			w.sendAll(1, lane.Call{Key: "k", Handle: uint64(i)})
		}
		if got := w.inside.Load(); got != 2 {
			t.Errorf("%d calls of one key run, want 2", got)
		}
	})
}

func TestALimitChangedWhileCallsRunHoldsFromThenOn(t *testing.T) {
	bubble(t, keyed(1), func(t *testing.T, w *crew) {
		all := w.sendAll(10, lane.Call{Key: "k"})
		set := func(n, want int) {
			t.Helper()
			require.NoError(t, limiter(w).SetKeyLimit("k", n))
			synctest.Wait()
			if got := w.inside.Load(); got != int64(want) {
				t.Errorf("with a limit of %d there run %d calls, want %d", n, got, want)
			}
		}
		wantInside(t, true, all[0])
		set(3, 3)
		set(2, 3) // nobody is interrupted
		all[0].dismiss()
		set(2, 2) // nobody follows
		all[1].dismiss()
		set(2, 2) // now somebody does
		wantInside(t, true, all[2:4]...)
		set(5, 5)
		set(0, 5) // back to PerKey, one
		for _, p := range all[2:6] {
			p.dismiss()
		}
		set(0, 1)
		wantInside(t, true, all[6])
	})
}

func TestALimitCanBeSetAndTakenAwayWhereThereIsNoDefault(t *testing.T) {
	bubble(t, keyed(0), func(t *testing.T, w *crew) {
		w.sendAll(3, lane.Call{Key: "k"})
		require.NoError(t, limiter(w).SetKeyLimit("k", 1))
		p := w.sendAll(3, lane.Call{Key: "k"})
		wantInside(t, true, p[0]) // those from before do not count
		wantInside(t, false, p[1:]...)
		require.NoError(t, limiter(w).SetKeyLimit("k", 0))
		wantInside(t, true, p...)
		require.NoError(t, limiter(w).SetKeyLimit("k", 2))
		late := w.sendAll(1, lane.Call{Key: "k"})[0]
		wantInside(t, false, late)
		p[0].dismiss()
		wantInside(t, false, late)
		p[1].dismiss()
		wantInside(t, true, late)
	})
}

func TestWhoWaitsForAKeyHoldsNoPlaceInTheQueue(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 2, Queue: 1, Waiters: 50, PerKey: 1, Patience: lane.Strict})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		busy := w.sendAll(1, lane.Call{Key: "k"})[0]
		waiting := w.sendAll(20, lane.Call{Key: "k"})
		if s := w.lane.Stats(); s.Running != 1 || s.Queued != 0 || s.Waiting != 20 {
			t.Errorf("%d running, %d queued, %d waiting; want 1, 0, 20", s.Running, s.Queued, s.Waiting)
		}
		other := w.sendAll(1, lane.Call{Policy: lane.FailFast})[0]
		wantInside(t, true, other)
		queued := w.sendAll(1, lane.Call{Policy: lane.FailFast})[0]
		if !queued.waits() {
			t.Errorf("the queue has no place, though only callers of a busy key wait: %v", queued.err)
		}
		busy.dismiss()
		wantInside(t, true, queued) // it was in the queue first
		queued.dismiss()
		wantInside(t, true, waiting[0])
	})
}

func TestAKeyIsServedInOrder(t *testing.T) {
	bubble(t, keyed(1), func(t *testing.T, w *crew) {
		first := w.sendAll(1, lane.Call{Key: "k"})[0]
		all := w.sendAll(30, lane.Call{Key: "k"})
		for i := 4; i < len(all); i += 7 {
			all[i].cancel()
		}
		synctest.Wait()
		for _, p := range all {
			p.dismiss()
		}
		first.dismiss()
		synctest.Wait()
		last := int64(0)
		for i, p := range all {
			switch {
			case i%7 == 4:
				if !errors.Is(p.err, context.Canceled) {
					t.Errorf("caller %d gave up and got %v", i, p.err)
				}
			case p.ran.Load() <= last:
				t.Errorf("caller %d of the key ran out of turn", i)
			default:
				last = p.ran.Load()
			}
		}
	})
}

func TestAKeyRefusesByTheSameRules(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 8, PerKey: 1, Waiters: 2})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		w.sendAll(3, lane.Call{Key: "k"})
		for _, c := range []struct {
			call lane.Call
			want error
		}{
			{lane.Call{Key: "k"}, ioerr.ErrOverloaded},
			{lane.Call{Key: "k", Policy: lane.FailFast}, ioerr.ErrKeyBusy},
			{lane.Call{Key: "k", NoWait: true}, ioerr.ErrReentry},
			{lane.Call{Key: "other"}, nil},
			{lane.Call{}, nil},
		} {
			p := w.sendAll(1, c.call)[0]
			if !errors.Is(p.err, c.want) {
				t.Errorf("%+v got %v, want %v", c.call, p.err, c.want)
			}
		}
		if s := w.lane.Stats(); s.Refused != (lane.Refused{Overloaded: 1, QueueFull: 1, Reentry: 1}) {
			t.Errorf("refused: %+v", s.Refused)
		}
	})
}

func TestTheAcceptanceDeadlineSpansKeyAndLane(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 1, Queue: 1, PerKey: 1, Patience: lane.Strict})
	}
	const patience = 100 * time.Millisecond
	bubble(t, open, func(t *testing.T, w *crew) {
		busy := w.sendAll(1, lane.Call{Key: "k"})[0]
		began := time.Now()
		p := w.sendAll(1, lane.Call{Key: "k", Accept: began.Add(patience)})[0]
		queued := w.sendAll(1, lane.Call{})[0]
		time.Sleep(60 * time.Millisecond)
		w.sendAll(1, lane.Call{}) // takes the place in the queue that gets free next
		busy.dismiss()            // the key is p's; there is no place in the queue
		wantInside(t, true, queued)
		if !p.waits() {
			t.Fatalf("the caller got %v", p.err)
		}
		<-p.gone
		if d := time.Since(began); d != patience {
			t.Errorf("refused after %v, want %v", d, patience)
		}
		if !errors.Is(p.err, ioerr.ErrAcceptTimeout) {
			t.Errorf("refused with %v, want %v", p.err, ioerr.ErrAcceptTimeout)
		}
		wantInside(t, false, w.sendAll(1, lane.Call{Key: "k"})...) // but the key is free: it waits for a slot
		if s := w.lane.Stats(); s.Waiting != 1 || s.Refused.Expired != 1 {
			t.Errorf("%d waiting, %d expired; want 1, 1", s.Waiting, s.Refused.Expired)
		}
	})
}

func TestACallerThatTheLaneRefusesGivesItsKeyBack(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: lane.NoWaiters, PerKey: 1})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		busy := w.sendAll(1, lane.Call{})[0]
		for range 10 {
			if p := w.sendAll(1, lane.Call{Key: "k", Policy: lane.FailFast})[0]; !errors.Is(p.err, ioerr.ErrQueueFull) {
				t.Errorf("got %v, want %v", p.err, ioerr.ErrQueueFull)
			}
		}
		busy.dismiss()
		synctest.Wait()
		wantInside(t, true, w.sendAll(1, lane.Call{Key: "k"})...)
	})
}

func TestSealRefusesWhoWaitsForAKey(t *testing.T) {
	bubble(t, keyed(1), func(t *testing.T, w *crew) {
		busy := w.sendAll(1, lane.Call{Key: "k"})[0]
		waiting := w.sendAll(5, lane.Call{Key: "k"})
		limiter(w).Seal()
		synctest.Wait()
		for _, p := range append(waiting, w.sendAll(1, lane.Call{Key: "k"})[0], w.sendAll(1, lane.Call{Key: "new"})[0]) {
			if !p.left() || !errors.Is(p.err, ioerr.ErrShutdown) {
				t.Errorf("got %v, want %v", p.err, ioerr.ErrShutdown)
			}
		}
		must := w.sendAll(1, lane.Call{Key: "k", Must: true})[0]
		wantInside(t, true, busy)
		if !must.waits() {
			t.Errorf("a call with Must got %v, or ran beside the limit", must.err)
		}
		if s := w.lane.Stats(); s.Waiting != 1 || s.Submitted != 9 {
			t.Errorf("%d waiting, %d submitted; want 1, 9", s.Waiting, s.Submitted)
		}
		busy.dismiss()
		wantInside(t, true, must)
	})
}

func TestEvictRefusesWhoWaitsForAKey(t *testing.T) {
	bubble(t, keyed(1), func(t *testing.T, w *crew) {
		w.sendAll(1, lane.Call{Key: "k", Owner: 1})
		mine, others := w.sendAll(2, lane.Call{Key: "k", Owner: 1}), w.sendAll(2, lane.Call{Key: "k", Owner: 2})
		limiter(w).Evict(1)
		synctest.Wait()
		for _, p := range mine {
			if !errors.Is(p.err, ioerr.ErrShutdown) {
				t.Errorf("got %v, want %v", p.err, ioerr.ErrShutdown)
			}
		}
		for _, p := range others {
			if !p.waits() {
				t.Errorf("a caller of another owner got %v", p.err)
			}
		}
	})
}
