package lane_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// leaveOne has a lane carry a call that is left, and returns its task.
func leaveOne(t *testing.T, l lane.Carrier, c lane.Call) *task {
	t.Helper()
	k := newTask()
	done := carry(t.Context(), l, c, k)
	time.Sleep(time.Minute)
	require.ErrorIs(t, returned(t, done), ioerr.ErrLeft)
	return k
}

// OnLate may end its goroutine: the lane still comes to its end.
func TestOnLateMayEndItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{CallLimit: time.Second, OnLate: func(lane.LeftCall) { runtime.Goexit() }})
		close(leaveOne(t, l, lane.Call{}).gate)
		shut(t, l)
	})
}

// Equal handles of several owners are different ones; equal keys are one.
func TestLeftCallsOfOthersHoldNoHandleOfMine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{CallLimit: time.Second})
		k := leaveOne(t, l, lane.Call{Handle: 1, Owner: 1, Key: "disk"})
		mine := newTask()
		close(mine.gate)
		require.NoError(t, l.Carry(t.Context(), lane.Call{Handle: 1, Owner: 2}, mine))
		require.ErrorIs(t, l.Carry(t.Context(), lane.Call{Handle: 1, Owner: 1}, newTask()), ioerr.ErrHandleBusy)
		require.ErrorIs(t, l.Carry(t.Context(), lane.Call{Owner: 2, Key: "disk"}, newTask()), ioerr.ErrKeyBusy)
		s := l.Stats()
		if s.Refused.Stuck != 2 || s.Submitted != 4 || s.Submitted != s.Accepted+uint64(s.Waiting)+s.Refused.Total() {
			t.Errorf("%+v", s)
		}
		close(k.gate)
		shut(t, l)
	})
}

// Whoever waits behind a call that is left, for its key or for the last slot, is told
// when he comes to his turn, and no more calls are left than may be.
func TestWhoWaitsBehindALeftCallIsToldInHisTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2, PerKey: 1}, CallLimit: time.Second, Grace: lane.NoGrace})
		var tasks []*task
		var calls []<-chan error
		for range 5 {
			k := newTask()
			tasks = append(tasks, k)
			calls = append(calls, carry(t.Context(), l, lane.Call{Key: "dead"}, k))
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		require.ErrorIs(t, returned(t, calls[0]), ioerr.ErrLeft)
		for _, c := range calls[1:] {
			require.ErrorIs(t, returned(t, c), ioerr.ErrKeyBusy)
		}
		if s := l.Stats(); s.LeftTotal != 1 || s.Running != 0 {
			t.Errorf("%+v", s)
		}
		close(tasks[0].gate)
		shut(t, l)
	})
}

// Reserved slots count for nobody who may not use them.
func TestALaneIsSaturatedAlsoWithReservedSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2, Reserved: 1}, CallLimit: time.Second, Left: 1})
		first, second := leaveOne(t, l, lane.Call{}), leaveOne(t, l, lane.Call{})
		require.ErrorIs(t, l.Carry(t.Context(), lane.Call{}, newTask()), ioerr.ErrSaturated)
		urgent := newTask()
		close(urgent.gate)
		require.NoError(t, l.Carry(t.Context(), lane.Call{Urgent: true}, urgent))
		close(first.gate)
		close(second.gate)
		shut(t, l)
	})
}

// Law: when a call that was left has ended, whichever it is, one that keeps its slot gives
// it to others, so a lane with as many stuck calls as its budget has all its slots.
func TestABudgetThatBecomesFreeIsUsedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2}, CallLimit: time.Second, Left: 3})
		var tasks []*task
		for range 5 {
			tasks = append(tasks, leaveOne(t, l, lane.Call{}))
		}
		for i, k := range tasks {
			close(k.gate)
			synctest.Wait()
			s := l.Stats()
			kept := 0
			for _, c := range s.Left {
				if c.KeepsSlot {
					kept++
				}
			}
			if want := max(0, 1-i); kept != want || s.Running != want || len(s.Left) != 4-i {
				t.Errorf("after %d: %d keep their slots, %d slots taken, want %d; %d left", i+1, kept, s.Running, want, len(s.Left))
			}
			again := newTask()
			close(again.gate)
			require.NoError(t, l.Carry(t.Context(), lane.Call{}, again))
		}
		shut(t, l)
		if s := l.Stats(); s.Started != s.Completed || s.Completed != 10 {
			t.Errorf("%+v", s)
		}
	})
}

// The lifecycle comes first, and a duty of the owner is watched after it, too.
func TestAClosedAbandoningLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{CallLimit: time.Second})
		k := leaveOne(t, l, lane.Call{Handle: 1})
		l.Seal()
		require.ErrorIs(t, l.Carry(t.Context(), lane.Call{Handle: 1}, newTask()), ioerr.ErrShutdown)
		close(k.gate)
		require.NoError(t, l.Drain(t.Context()))
		duty := leaveOne(t, l, lane.Call{Must: true})
		close(duty.gate)
		shut(t, l)
	})
}

// panicking is a context that panics when it is asked what n says.
type panicking struct {
	context.Context
	in string
}

func (c panicking) Done() <-chan struct{} {
	if c.in == "Done" {
		panic(c.in)
	}
	return c.Context.Done()
}

func (c panicking) Value(key any) any {
	if c.in == "Value" {
		panic(c.in)
	}
	return c.Context.Value(key)
}

// A context that panics costs nothing before the call has begun, and nothing after it.
func TestACarriedCallWithAContextThatPanics(t *testing.T) {
	for _, in := range []string{"Done", "Value"} {
		synctest.Test(t, func(t *testing.T) {
			l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 1}})
			ctx, cancel := context.WithCancel(t.Context())
			k := newTask()
			done := make(chan error, 1)
			go func() {
				defer func() {
					if recover() != nil {
						done <- nil
					}
				}()
				done <- l.Carry(panicking{ctx, in}, lane.Call{}, k)
			}()
			synctest.Wait()
			cancel()
			time.Sleep(time.Minute)
			err := returned(t, done)
			if in == "Value" {
				require.ErrorIs(t, err, ioerr.ErrLeft)
			}
			close(k.gate)
			synctest.Wait()
			again := newTask()
			close(again.gate)
			require.NoError(t, l.Carry(t.Context(), lane.Call{}, again))
			shut(t, l)
		})
	}
}

// Law: calls of an owner that gives up are left as if their contexts had ended, others
// are not, and those that end within the grace are received.
func TestGivingUpLeavesTheCallsOfTheOwner(t *testing.T) {
	for _, limit := range []time.Duration{time.Hour, lane.NoLimit} {
		synctest.Test(t, func(t *testing.T) {
			l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 3}, CallLimit: limit, Grace: time.Second})
			hangs, ends, other := newTask(), newTask(), newTask()
			left := carry(t.Context(), l, lane.Call{Owner: 1}, hangs)
			received := carry(t.Context(), l, lane.Call{Owner: 1}, ends)
			untouched := carry(t.Context(), l, lane.Call{Owner: 2}, other)
			waiting(t, left, received, untouched)

			cause := errors.New("over")
			l.GiveUp(1, cause)
			waiting(t, left, received, untouched)
			close(ends.gate)
			require.NoError(t, returned(t, received))
			time.Sleep(time.Second)
			err := returned(t, left)
			require.ErrorIs(t, err, ioerr.ErrLeft)
			require.ErrorIs(t, err, cause)
			time.Sleep(time.Minute)
			waiting(t, untouched)
			l.GiveUp(2, cause)
			close(other.gate)
			require.NoError(t, returned(t, untouched))
			close(hangs.gate)
			require.NoError(t, l.Shutdown(context.Background()))
		})
	}
}

// Law: no snapshot counts a call twice, as one that runs and as one that was left.
func TestASnapshotCountsALeftCallOnce(t *testing.T) {
	l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 4}, Grace: lane.NoGrace, Left: 1})
	const calls = 3 // one of which has a place beside the lane's slots
	var done atomic.Bool
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for !done.Load() {
			s := l.Stats()
			n := s.Running
			for _, c := range s.Left {
				if !c.KeepsSlot {
					n++
				}
			}
			if n > calls {
				t.Errorf("%d calls, of %d at most: %+v", n, calls, s)
				return
			}
		}
	}()
	for range count(100, 20_000) {
		ctx, cancel := context.WithCancel(t.Context())
		var tasks []*task
		var left []<-chan error
		for range calls {
			k := newTask()
			tasks = append(tasks, k)
			left = append(left, carry(ctx, l, lane.Call{}, k))
		}
		for _, k := range tasks {
			for k.ran.Load() == 0 {
				runtime.Gosched()
			}
		}
		cancel()
		for _, c := range left {
			require.ErrorIs(t, <-c, ioerr.ErrLeft)
		}
		for _, k := range tasks {
			close(k.gate)
		}
		for s := l.Stats(); len(s.Left) > 0 || s.Running > 0; s = l.Stats() {
			runtime.Gosched()
		}
	}
	done.Store(true)
	<-watched
	shut(t, l)
}
