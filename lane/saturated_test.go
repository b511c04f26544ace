package lane_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// sums checks that a snapshot of a lane adds up.
func sums(t *testing.T, s lane.Stats) {
	t.Helper()
	if s.Accepted != s.Started+uint64(s.Queued)+s.Dropped || s.Started != s.Completed+uint64(s.Running) ||
		s.Submitted != s.Accepted+uint64(s.Waiting)+s.Refused.Total() {
		t.Errorf("does not add up: %+v", s)
	}
}

// enter has a call enter a lane in the background, and leave it at once.
func enter(t *testing.T, l lane.Lane, c lane.Call) <-chan error {
	done := make(chan error, 1)
	go func() {
		s, err := l.Enter(t.Context(), c)
		if err == nil {
			l.Leave(s)
		}
		done <- err
	}()
	synctest.Wait()
	return done
}

// ending is a task that ends at once.
func ending() *task {
	k := newTask()
	close(k.gate)
	return k
}

// told checks that all are told, by now, that the lane is saturated.
func told(t *testing.T, calls ...<-chan error) {
	t.Helper()
	for _, c := range calls {
		if err := returned(t, c); !errors.Is(err, ioerr.ErrSaturated) {
			t.Errorf("%v, want %v", err, ioerr.ErrSaturated)
		}
	}
}

// Law: in the moment in which left calls hold every slot, whoever waits is told, accepted
// or not, and so is whoever comes; only the owner's duties wait on. When one of the calls
// has ended, callers are served, and wait, as before.
func TestWhoWaitsIsToldWhenTheLaneIsSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var edges []lane.EventKind
		l := abandoning(t, lane.AbandoningConfig{
			Config: lane.Config{Workers: 2, Queue: 2, Waiters: 2, OnEvent: func(e lane.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.Kind == lane.Exhausted || e.Kind == lane.Recovered {
					edges = append(edges, e.Kind)
				}
			}}, CallLimit: time.Hour, Grace: lane.NoGrace, Left: 1,
		})
		told := func(t *testing.T, c ...<-chan error) {
			t.Helper()
			told(t, c...)
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, []lane.EventKind{lane.Exhausted}, edges)
		}
		replaced := newTask()
		c := carry(t.Context(), l, lane.Call{}, replaced)
		time.Sleep(time.Hour)
		require.ErrorIs(t, returned(t, c), ioerr.ErrLeft)
		first, second := newTask(), newTask()
		a := carry(t.Context(), l, lane.Call{}, first)
		time.Sleep(time.Minute)
		b := carry(t.Context(), l, lane.Call{}, second)
		synctest.Wait()
		var line []<-chan error
		for range 2 { // the queue and the room
			line = append(line, carry(t.Context(), l, lane.Call{}, newTask()), carry(t.Context(), l, lane.Call{Urgent: true}, newTask()))
			line = append(line, enter(t, l, lane.Call{}), enter(t, l, lane.Call{Urgent: true}))
		}
		duty := carry(t.Context(), l, lane.Call{Must: true}, ending())
		time.Sleep(time.Hour - time.Minute)
		require.ErrorIs(t, returned(t, a), ioerr.ErrLeft)
		time.Sleep(time.Minute - 1)
		waiting(t, append(line, b, duty)...)
		time.Sleep(time.Nanosecond)
		require.ErrorIs(t, returned(t, b), ioerr.ErrLeft)
		told(t, line...)
		told(t, enter(t, l, lane.Call{}), enter(t, l, lane.Call{Urgent: true, NoWait: true}), enter(t, l, lane.Call{Policy: lane.FailFast}))
		waiting(t, duty)
		s := l.Stats()
		if s.Dropped != 4 || s.Refused != (lane.Refused{Stuck: 4 + 3}) || s.Queued != 1 || s.Waiting != 0 || s.Running != 2 {
			t.Errorf("%+v", s)
		}
		sums(t, s)

		close(second.gate)
		require.NoError(t, returned(t, duty))
		mu.Lock()
		require.Equal(t, []lane.EventKind{lane.Exhausted, lane.Recovered}, edges)
		mu.Unlock()
		last := newTask()
		d := carry(t.Context(), l, lane.Call{}, last)
		synctest.Wait()
		next := enter(t, l, lane.Call{})
		waiting(t, d, next)
		close(last.gate)
		require.NoError(t, returned(t, d))
		require.NoError(t, returned(t, next))
		close(first.gate)
		close(replaced.gate)
		shut(t, l)
		sums(t, l.Stats())
	})
}

// Law: urgent callers are told only when the reserved slots are kept, too; and a reserved
// slot that is kept is none that others miss.
func TestUrgentCallersAreToldWhenTheReservedSlotsAreKeptToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2, Reserved: 1}, CallLimit: time.Second, Left: 1})
		replaced, normal := leaveOne(t, l, lane.Call{}), newTask()
		a := carry(t.Context(), l, lane.Call{}, normal)
		synctest.Wait()
		reserved := leaveOne(t, l, lane.Call{Urgent: true}) // it was left as well, when the normal one had been
		require.ErrorIs(t, returned(t, a), ioerr.ErrLeft)
		told(t, enter(t, l, lane.Call{}), enter(t, l, lane.Call{Urgent: true}))
		close(normal.gate)
		synctest.Wait()
		require.NoError(t, returned(t, enter(t, l, lane.Call{})))

		again := newTask()
		b := carry(t.Context(), l, lane.Call{}, again)
		synctest.Wait()
		wait, urgent := enter(t, l, lane.Call{}), enter(t, l, lane.Call{Urgent: true})
		waiting(t, wait, urgent)
		close(reserved.gate)
		synctest.Wait()
		require.NoError(t, returned(t, urgent))
		held := newTask()
		d := carry(t.Context(), l, lane.Call{Urgent: true}, held)
		synctest.Wait()
		urgent = enter(t, l, lane.Call{Urgent: true})
		time.Sleep(time.Second + 100*time.Millisecond)
		require.ErrorIs(t, returned(t, b), ioerr.ErrLeft)
		told(t, wait)
		require.ErrorIs(t, returned(t, d), ioerr.ErrLeft)
		told(t, urgent)
		close(replaced.gate)
		close(again.gate)
		close(held.gate)
		shut(t, l)
		sums(t, l.Stats())
	})
}

// Resize saturates a lane whose slots it takes away, and helps one that it gives some.
func TestResizeSaturatesAndHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2}, CallLimit: time.Second, Left: 1})
		replaced, kept, busy := leaveOne(t, l, lane.Call{}), leaveOne(t, l, lane.Call{}), take(t, l, lane.Call{})
		line := enter(t, l, lane.Call{})
		waiting(t, line)
		require.ErrorIs(t, l.Resize(0), ioerr.ErrInvalid)
		waiting(t, line)
		require.NoError(t, l.Resize(1))
		told(t, line, enter(t, l, lane.Call{}))
		l.Leave(busy)
		told(t, enter(t, l, lane.Call{}))
		require.NoError(t, l.Resize(2))
		require.NoError(t, returned(t, enter(t, l, lane.Call{})))
		close(replaced.gate)
		close(kept.gate)
		shut(t, l)
	})
}

// A call that is left and keeps its slot does not keep its key: whoever waits for that is
// told in his turn, and so is whoever waits behind one who is told.
func TestWhoWaitsForAKeyIsToldWhenTheLaneIsSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{
			Config: lane.Config{Workers: 2, PerKey: 1}, CallLimit: time.Hour, Grace: lane.NoGrace, Left: 1,
		})
		tasks := []*task{newTask(), newTask(), newTask()}
		var calls []<-chan error
		for i, key := range []string{"", "dead", ""} {
			calls = append(calls, carry(t.Context(), l, lane.Call{Key: key}, tasks[i]))
			time.Sleep(time.Minute)
		}
		// The third waits for a slot until the first is left.
		behind := []<-chan error{
			carry(t.Context(), l, lane.Call{Key: "dead"}, newTask()),
			carry(t.Context(), l, lane.Call{Key: "dead"}, newTask()),
		}
		synctest.Wait()
		inLine := []<-chan error{carry(t.Context(), l, lane.Call{Key: "other"}, newTask())}
		synctest.Wait()
		inLine = append(inLine, carry(t.Context(), l, lane.Call{Key: "other"}, newTask()))
		time.Sleep(time.Hour - 2*time.Minute) // the second is left, and keeps its slot
		require.ErrorIs(t, returned(t, calls[1]), ioerr.ErrLeft)
		waiting(t, append(inLine, behind[0])...)
		time.Sleep(time.Hour)
		require.ErrorIs(t, returned(t, calls[2]), ioerr.ErrLeft)
		told(t, inLine...)
		for _, c := range behind { // the first of them had the key, and stood in line
			if err := returned(t, c); !errors.Is(err, ioerr.ErrSaturated) && !errors.Is(err, ioerr.ErrKeyBusy) {
				t.Error(err)
			}
		}
		for _, k := range tasks {
			close(k.gate)
		}
		synctest.Wait()
		require.NoError(t, returned(t, carry(t.Context(), l, lane.Call{Key: "dead"}, ending())))
		shut(t, l)
		sums(t, l.Stats())
	})
}

// A shutdown does not wait for accepted calls that will never run.
func TestASaturatedLaneThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 1}, CallLimit: time.Second, Left: 1})
		replaced, kept := leaveOne(t, l, lane.Call{}), newTask()
		c := carry(t.Context(), l, lane.Call{}, kept)
		synctest.Wait()
		accepted := carry(t.Context(), l, lane.Call{}, newTask())
		synctest.Wait()
		l.Seal()
		waiting(t, c, accepted)
		time.Sleep(time.Minute)
		require.ErrorIs(t, returned(t, c), ioerr.ErrLeft)
		told(t, accepted)
		require.ErrorIs(t, returned(t, enter(t, l, lane.Call{})), ioerr.ErrShutdown)
		close(replaced.gate)
		close(kept.gate)
		shut(t, l)
	})
}

// Callers come all the time while a lane becomes saturated and recovers: each comes back,
// though no context ends, and none is left in line.
func TestNobodySlipsIntoTheLineOfASaturatedLane(t *testing.T) {
	l := abandoning(t, lane.AbandoningConfig{
		Config: lane.Config{Workers: 2, Queue: 4, Waiters: 4}, CallLimit: 100 * time.Microsecond, Grace: lane.NoGrace, Left: 1,
	})
	for range count(100, 3000) {
		stuck := []*task{newTask(), newTask(), newTask()}
		var came sync.WaitGroup
		come := func(k *task) {
			came.Go(func() {
				err := l.Carry(context.Background(), lane.Call{}, k)
				for _, want := range []error{nil, ioerr.ErrLeft, ioerr.ErrSaturated, ioerr.ErrOverloaded} {
					if errors.Is(err, want) {
						return
					}
				}
				t.Error(err)
			})
		}
		for i := range 24 {
			if i%8 == 0 {
				come(stuck[i/8])
			}
			come(ending())
		}
		came.Wait() // the stuck ones are left, or were refused
		sums(t, l.Stats())
		for _, k := range stuck {
			close(k.gate)
		}
	}
	shut(t, l)
	if s := l.Stats(); s.Queued != 0 || s.Waiting != 0 || s.Running != 0 {
		t.Errorf("%+v", s)
	}
}
