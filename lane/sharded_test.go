package lane_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func shards(c lane.ShardedConfig) func(testing.TB) lane.Lane {
	return func(t testing.TB) lane.Lane { return sharded(t, c) }
}

// started is how many calls each shard has begun.
func started(l lane.Lane) []uint64 {
	var n []uint64
	for _, s := range l.Stats().Shards {
		n = append(n, s.Started)
	}
	return n
}

func TestCallsOnOneThingKeepToOneShard(t *testing.T) {
	for name, call := range map[string]func(i int) lane.Call{
		"handle": func(i int) lane.Call { return lane.Call{Handle: uint64(i + 1)} },
		"key":    func(i int) lane.Call { return lane.Call{Key: fmt.Sprint("key ", i)} },
		"both":   func(i int) lane.Call { return lane.Call{Key: fmt.Sprint("key ", i), Handle: 1} },
		// As file descriptors of a pool count them: in the upper half.
		"high handles": func(i int) lane.Call { return lane.Call{Handle: uint64(i+1) << 32} },
	} {
		t.Run(name, func(t *testing.T) {
			l := sharded(t, lane.ShardedConfig{Shards: 8, Config: lane.Config{Workers: 2}})
			defer shut(t, l)
			used := make(map[int]int)
			for i := range 400 {
				var at int
				for n := range 3 {
					before := started(l)
					l.Leave(take(t, l, call(i)))
					now := 0
					for shard, got := range started(l) {
						if got != before[shard] {
							now = shard
						}
					}
					if n > 0 && now != at {
						t.Fatalf("call %d on thing %d ran in shard %d, the ones before in %d", n, i, now, at)
					}
					at = now
				}
				used[at]++
			}
			for shard := range 8 {
				if got := used[shard]; got < 25 { // 50 expected; 25 is 3.8 sigma away
					t.Errorf("of 400 things %d went to shard %d", got, shard)
				}
			}
		})
	}
}

func TestOtherCallsGoToTheShardsInTurn(t *testing.T) {
	l := sharded(t, lane.ShardedConfig{Shards: 5, Config: lane.Config{Workers: 1}})
	defer shut(t, l)
	for i := range 5 * 7 {
		if i%2 == 0 {
			l.Leave(take(t, l, lane.Call{}))
		} else if s, ok := l.Try(); ok {
			l.Leave(s)
		} else {
			t.Errorf("Try found no slot in an idle lane")
		}
	}
	for shard, got := range started(l) {
		if got != 7 {
			t.Errorf("shard %d ran %d calls of 35, want 7", shard, got)
		}
	}
}

// A pool tries, and enters only when that fails. Were the attempt a turn of its
// own, with two shards all callers would wait at the same one.
func TestAFailedTryTakesNoTurn(t *testing.T) {
	open := shards(lane.ShardedConfig{Shards: 2, Isolated: true, Config: lane.Config{Workers: 1, Queue: 8}})
	bubble(t, open, func(t *testing.T, w *crew) {
		w.sendAll(2, lane.Call{})
		for range 8 {
			if _, ok := w.lane.(*lane.Sharded).Try(); ok {
				t.Fatal("Try found a slot in a full lane")
			}
			w.sendAll(1, lane.Call{})
		}
		for shard, s := range w.lane.Stats().Shards {
			if s.Queued != 4 {
				t.Errorf("%d of 8 callers wait at shard %d, want 4", s.Queued, shard)
			}
		}
	})
}

func TestNobodyWaitsOrIsRefusedWhileAnyShardHasASlot(t *testing.T) {
	for _, n := range []int{2, 16} {
		for _, patience := range []time.Duration{0, lane.Strict} {
			open := shards(lane.ShardedConfig{Shards: n, Config: lane.Config{Workers: 2, Queue: 64, Patience: patience}})
			bubble(t, open, func(t *testing.T, w *crew) {
				here := lane.Call{Handle: 1, Policy: lane.FailFast} // all in one shard
				all := w.sendAll(2*n+10, here)
				for i, p := range all {
					if got, want := w.inside.Load(), int64(min(2*n, len(all)-i)); got != want {
						t.Fatalf("%d calls run when %d have left, want %d", got, i, want)
					}
					p.dismiss()
					synctest.Wait()
				}
				// Nor is anybody refused.
				for range 2 * n {
					if p := w.sendAll(1, lane.Call{Handle: 1, NoWait: true})[0]; p.left() {
						t.Errorf("refused with %v while %d of %d slots were taken", p.err, w.inside.Load(), 2*n)
					}
				}
			})
		}
	}
}

func TestAShardFullOfCallsThatDoNotEndSlowsNoOther(t *testing.T) {
	open := shards(lane.ShardedConfig{Shards: 2, Isolated: true, Config: lane.Config{Workers: 4, Queue: 4, Waiters: 4}})
	bubble(t, open, func(t *testing.T, w *crew) {
		const hung = 1
		var other uint64
		w.sendAll(4+4+4, lane.Call{Handle: hung})
		if p := w.sendAll(1, lane.Call{Handle: hung})[0]; !errors.Is(p.err, ioerr.ErrOverloaded) {
			t.Fatalf("the hung shard is not full: %v", p.err)
		}
		for other = hung + 1; ; other++ { // until it goes to the other shard
			s, err := w.lane.Enter(t.Context(), lane.Call{Handle: other, NoWait: true})
			if err == nil {
				w.lane.Leave(s)
				break
			}
		}
		began := time.Now()
		for range 10_000 {
			w.lane.Leave(take(t, w.lane, lane.Call{Handle: other, NoWait: true}))
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("calls in the other shard waited for %v", d)
		}
		wantInside(t, true, w.sendAll(4, lane.Call{Handle: other})...)
		if p := w.sendAll(1, lane.Call{Handle: other, NoWait: true})[0]; !errors.Is(p.err, ioerr.ErrReentry) {
			t.Errorf("a fifth call in a shard of 4 got %v: isolated shards lend", p.err)
		}
	})
}

// Tiny calls come in bursts with idle gaps. Work must never wait beside an idle
// slot for longer than it takes to schedule a goroutine.
func TestNoWakeUpIsLostInBurstsOfTinyCalls(t *testing.T) {
	for _, n := range []int{1, 2, 16} {
		t.Run(fmt.Sprint("shards=", n), func(t *testing.T) {
			l := sharded(t, lane.ShardedConfig{Shards: n, Config: lane.Config{Workers: 1, Queue: 64}})
			defer shut(t, l)
			done := make(chan struct{})
			var dog sync.WaitGroup
			dog.Go(func() { watch(t, l, done) })
			const burst = 64
			var wg sync.WaitGroup
			for range burst {
				wg.Go(func() {
					for i := range count(120_000, 10_000_000) / 3 / burst {
						s, err := l.Enter(context.Background(), lane.Call{Handle: uint64(i / 4 % 3)})
						if err != nil {
							t.Error(err)
							return
						}
						if i%8 == 0 {
							runtime.Gosched()
						}
						l.Leave(s)
						if i%64 == 0 {
							time.Sleep(10 * time.Microsecond)
						}
					}
				})
			}
			wg.Wait()
			close(done)
			dog.Wait()
			if s := l.Stats(); s.Running != 0 || s.Queued != 0 {
				t.Errorf("at rest: %+v", s)
			}
		})
	}
}

// watch fails the test if calls wait beside idle slots for a second: a processor
// shared with other tests takes its time, a lost wake-up takes for ever.
func watch(t *testing.T, l lane.Lane, done <-chan struct{}) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var since time.Time
	var completed uint64
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		s := l.Stats()
		addUp(t, s)
		if s.Queued+s.Waiting == 0 || s.Running >= s.Workers || s.Completed != completed {
			since, completed = time.Now(), s.Completed
			continue
		}
		if d := time.Since(since); d > time.Second {
			t.Errorf("for %v %d calls have waited, with %d of %d slots in use", d, s.Queued+s.Waiting, s.Running, s.Workers)
			return
		}
	}
}

func TestStatsOfShardsAddUpToThoseOfTheLane(t *testing.T) {
	l := sharded(t, lane.ShardedConfig{Shards: 4, Config: lane.Config{Workers: 1, Queue: 2}})
	load(l, 16, 100)
	// Whatever that came to: all slots held, all queues full, and one refusal.
	var held []lane.Slot
	for range 4 {
		slot, err := l.Enter(t.Context(), lane.Call{NoWait: true})
		require.NoError(t, err)
		held = append(held, slot)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var queued sync.WaitGroup
	for range 8 {
		queued.Go(func() { _, _ = l.Enter(ctx, lane.Call{}) })
	}
	for l.Stats().Queued < 8 {
		runtime.Gosched()
	}
	_, err := l.Enter(t.Context(), lane.Call{Policy: lane.FailFast})
	require.ErrorIs(t, err, ioerr.ErrQueueFull)
	cancel()
	queued.Wait()
	for _, slot := range held {
		l.Leave(slot)
	}
	shut(t, l)
	s := l.Stats()
	addUp(t, s)
	var sum lane.Stats
	for _, shard := range s.Shards {
		sum.Workers += shard.Workers
		sum.Started += shard.Started
		sum.Completed += shard.Completed
		sum.Accepted += shard.Accepted
		sum.Dropped += shard.Dropped
		sum.WaitSum += shard.WaitSum
		sum.WaitMax = max(sum.WaitMax, shard.WaitMax)
	}
	if sum.Workers != s.Workers || sum.Started != s.Started || sum.Completed != s.Completed || sum.Accepted != s.Accepted ||
		sum.Dropped != s.Dropped || sum.WaitSum != s.WaitSum || sum.WaitMax != s.WaitMax {
		t.Errorf("the shards have %+v, the lane %+v", sum, s)
	}
	if s.Started == 0 || s.Refused.QueueFull == 0 {
		t.Errorf("the load was none: %+v", s)
	}
}
