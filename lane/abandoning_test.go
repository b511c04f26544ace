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

// task is a call that ends when its gate is opened.
type task struct {
	gate  chan struct{}
	goes  bool // ends its goroutine
	ran   atomic.Int32
	left  atomic.Int64 // the age when it was left
	ended atomic.Int32 // 1 received, 2 left
}

func newTask() *task { return &task{gate: make(chan struct{})} }

func (k *task) Run(lane.Thread) {
	k.ran.Add(1)
	<-k.gate
	if k.goes {
		runtime.Goexit()
	}
}
func (k *task) Ending(error)           {}
func (k *task) Left(age time.Duration) { k.left.Store(int64(age)) }
func (k *task) End(left bool, _ error) {
	if left {
		k.ended.Add(2)
	} else {
		k.ended.Add(1)
	}
}

// carry has a lane carry a task in the background.
func carry(ctx context.Context, l lane.Carrier, c lane.Call, k lane.Task) <-chan error {
	done := make(chan error, 1)
	go func() { done <- l.Carry(ctx, c, k) }()
	return done
}

func abandoning(t testing.TB, c lane.AbandoningConfig) *lane.Abandoning {
	t.Helper()
	l, err := lane.NewAbandoning(c)
	require.NoError(t, err)
	return l
}

// waiting checks that a carried call has not returned.
func waiting(t *testing.T, calls ...<-chan error) {
	t.Helper()
	synctest.Wait()
	for _, c := range calls {
		select {
		case err := <-c:
			t.Fatalf("returned %v, want it to wait", err)
		default:
		}
	}
}

// returned is the error of a carried call that must have returned.
func returned(t *testing.T, c <-chan error) error {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-c:
		return err
	default:
		t.Fatal("waits")
		return nil
	}
}

// Law: a call that ends in time is received by its caller, once, and leaves nothing.
func TestACarriedCallThatEndsIsReceived(t *testing.T) {
	for _, goes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
			k := newTask()
			k.goes = goes
			c := carry(t.Context(), l, lane.Call{}, k)
			waiting(t, c)
			if s := l.Stats(); s.Running != 1 {
				t.Errorf("%+v", s)
			}
			time.Sleep(time.Second)
			close(k.gate)
			require.NoError(t, returned(t, c))
			if k.ran.Load() != 1 || k.ended.Load() != 1 || k.left.Load() != 0 {
				t.Errorf("ran %d, ended %d, left %d", k.ran.Load(), k.ended.Load(), k.left.Load())
			}
			shut(t, l)
			if s := l.Stats(); s.Completed != 1 || s.LeftTotal != 0 || len(s.Left) != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Law: a caller leaves a call that outlives its context by the grace, or the lane's
// limit; its slot is given to others at once, and the call is listed until it ends.
func TestACallThatDoesNotEndIsLeft(t *testing.T) {
	canceled, cause := context.Canceled, errors.New("enough")
	for name, test := range map[string]struct {
		ctx   func(context.Context) context.Context
		after time.Duration
		want  error
	}{
		"deadline": {func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
			context.AfterFunc(ctx, cancel)
			return ctx
		}, 3*time.Second + 100*time.Millisecond, context.DeadlineExceeded},
		"cancel": {func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx
		}, time.Second + 100*time.Millisecond, canceled},
		"cause": {func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			return ctx
		}, time.Second + 100*time.Millisecond, cause},
		"limit": {func(ctx context.Context) context.Context { return ctx }, 30*time.Second + 100*time.Millisecond, ioerr.ErrLeft},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var late []lane.LeftCall
				l := abandoning(t, lane.AbandoningConfig{
					Config: lane.Config{Workers: 1},
					OnLate: func(c lane.LeftCall) { late = append(late, c) },
				})
				k := newTask()
				c := carry(test.ctx(t.Context()), l, lane.Call{Label: "statfs", Handle: 7}, k)
				synctest.Wait()
				next := newTask()
				queued := carry(t.Context(), l, lane.Call{}, next)
				time.Sleep(test.after - 1)
				waiting(t, c, queued)
				time.Sleep(time.Nanosecond)
				err := returned(t, c)
				left, ok := errors.AsType[*ioerr.LeftError](err)
				if !ok || left.Age != test.after || !errors.Is(err, test.want) || !errors.Is(err, ioerr.ErrLeft) {
					t.Errorf("%v after %v", err, left)
				}
				if next.ran.Load() != 1 {
					t.Error("the slot was not given to the next")
				}
				s := l.Stats()
				want := lane.LeftCall{Label: "statfs", Handle: 7, Age: test.after}
				if len(s.Left) != 1 || s.Left[0] != want || s.LeftTotal != 1 || s.Running != 1 {
					t.Errorf("%+v", s)
				}
				close(next.gate)
				require.NoError(t, returned(t, queued))
				time.Sleep(time.Second)
				close(k.gate)
				synctest.Wait()
				want.Age += time.Second
				if len(late) != 1 || late[0] != want || k.ended.Load() != 2 || len(l.Stats().Left) != 0 {
					t.Errorf("late %v, ended %d, %+v", late, k.ended.Load(), l.Stats())
				}
				shut(t, l)
			})
		})
	}
}

// Law: the next call on the same handle or key is refused at once, with the age and the
// label of the one that was left, until that ends; others are served.
func TestWhatALeftCallHoldsIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 1}, CallLimit: time.Second, Grace: lane.NoGrace})
		k := newTask()
		c := carry(t.Context(), l, lane.Call{Label: "read", Handle: 7, Key: "disk"}, k)
		time.Sleep(time.Second)
		require.ErrorIs(t, returned(t, c), ioerr.ErrLeft)
		time.Sleep(time.Minute)
		for want, call := range map[error]lane.Call{ioerr.ErrHandleBusy: {Handle: 7}, ioerr.ErrKeyBusy: {Key: "disk"}} {
			other := newTask()
			err := returned(t, carry(t.Context(), l, call, other))
			stuck, ok := errors.AsType[*ioerr.StuckError](err)
			if !ok || !errors.Is(err, want) || stuck.Label != "read" || stuck.Age != time.Minute+time.Second || other.ran.Load() != 0 {
				t.Errorf("%v: %v", call, err)
			}
			if _, err := l.Enter(t.Context(), call); !errors.Is(err, want) {
				t.Errorf("%v: %v", call, err)
			}
		}
		duty, err := l.Enter(t.Context(), lane.Call{Handle: 7, Must: true})
		require.NoError(t, err)
		l.Leave(duty)
		healthy := newTask()
		close(healthy.gate)
		require.NoError(t, returned(t, carry(t.Context(), l, lane.Call{Handle: 8, Key: "other"}, healthy)))
		close(k.gate)
		again := newTask()
		close(again.gate)
		synctest.Wait()
		require.NoError(t, returned(t, carry(t.Context(), l, lane.Call{Handle: 7, Key: "disk"}, again)))
		shut(t, l)
	})
}

// Law: beyond the budget a call that is left keeps its slot; when all are kept callers
// are told that the lane is saturated, and it recovers by itself.
func TestTheBudgetOfLeftCallsIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2}, CallLimit: time.Second, Grace: lane.NoGrace, Left: 3})
		var tasks []*task
		for range 5 {
			k := newTask()
			c := carry(t.Context(), l, lane.Call{}, k)
			time.Sleep(time.Second)
			require.ErrorIs(t, returned(t, c), ioerr.ErrLeft)
			tasks = append(tasks, k)
		}
		if s := l.Stats(); s.Running != 2 || len(s.Left) != 5 {
			t.Errorf("%+v", s)
		}
		require.ErrorIs(t, returned(t, carry(t.Context(), l, lane.Call{}, newTask())), ioerr.ErrSaturated)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.Drain(ctx), context.DeadlineExceeded) // waits for the left ones as well
		close(tasks[4].gate)
		synctest.Wait()
		k := newTask()
		close(k.gate)
		require.NoError(t, returned(t, carry(t.Context(), l, lane.Call{}, k)))
		for _, k := range tasks[:4] {
			close(k.gate)
		}
		synctest.Wait()
		if s := l.Stats(); s.Running != 0 || len(s.Left) != 0 || s.LeftTotal != 5 {
			t.Errorf("%+v", s)
		}
		shut(t, l)
	})
}

// A call may end, its context may end, and the watch may find it overdue, all at the
// same time: its caller receives it or leaves it, never both, and never hangs.
func TestEndsAndLeavesAtOnce(t *testing.T) {
	l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 4}, CallLimit: 50 * time.Microsecond, Grace: lane.NoGrace, Left: 1000})
	received, left := 0, 0
	for i := range count(2000, 50_000) {
		k := newTask()
		ctx, cancel := context.WithCancel(t.Context())
		if i%2 == 0 {
			go cancel()
		}
		go close(k.gate)
		err := l.Carry(ctx, lane.Call{}, k)
		cancel()
		switch {
		case err == nil && k.ended.Load() == 1:
			received++
		case errors.Is(err, ioerr.ErrLeft):
			left++
		case errors.Is(err, context.Canceled) && k.ran.Load() == 0:
		default:
			t.Fatalf("%v, ended %d", err, k.ended.Load())
		}
	}
	shut(t, l)
	if s := l.Stats(); len(s.Left) != 0 || s.LeftTotal != uint64(left) || s.Running != 0 {
		t.Errorf("%+v", s)
	}
	t.Logf("%d received, %d left", received, left)
}

// A panic in OnLate is counted and costs nothing.
func TestAPanicInOnLateIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{CallLimit: time.Second, OnLate: func(lane.LeftCall) { panic("no") }})
		k := newTask()
		c := carry(t.Context(), l, lane.Call{}, k)
		time.Sleep(2 * time.Second)
		require.Error(t, returned(t, c))
		close(k.gate)
		shut(t, l)
		if s := l.Stats(); s.CallbackPanics != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAbandoningChecksItsConfig(t *testing.T) {
	for field, c := range map[string]lane.AbandoningConfig{
		"CallLimit":     {CallLimit: -2},
		"Grace":         {Grace: -2},
		"Left":          {Left: -1},
		"LeftPerHandle": {LeftPerHandle: 4097},
		"LeftPerKey":    {LeftPerKey: -5},
	} {
		_, err := lane.NewAbandoning(c)
		if arg, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || arg.Name != "lane.AbandoningConfig."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, c := range []lane.AbandoningConfig{
		{Config: lane.Config{Workers: -1}},
		{Interrupt: true, Grace: lane.NoGrace}, // there would be no time for it
	} {
		_, err := lane.NewAbandoning(c)
		require.ErrorIs(t, err, ioerr.ErrInvalid)
	}
}
