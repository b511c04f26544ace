package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// lateLane keeps its tasks between their end and the lane's look at them until goOn.
type lateLane struct {
	*lane.Abandoning
	goOn chan struct{}
}

type lateTask struct {
	lane.Task
	goOn chan struct{}
}

func (l *lateLane) Carry(ctx context.Context, c lane.Call, k lane.Task) error {
	return l.Abandoning.Carry(ctx, c, lateTask{k, l.goOn})
}

func (k lateTask) Run(on lane.Thread) { k.Task.Run(on); <-k.goOn }

// Undo may end its goroutine, also when the call was left in its very last moment: the
// handle works again, and a shutdown waits for Undo and reports it.
func TestUndoInTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, err := lane.NewAbandoning(lane.AbandoningConfig{Grace: time.Second})
		require.NoError(t, err)
		l := &lateLane{inner, make(chan struct{})}
		p := makePool(t, pool.Config[int]{Lane: l})
		id := adopt(t, p, 1)
		require.ErrorIs(t, second(pool.OffloadOn(within(t, time.Second), p, id, func(context.Context, int) (int, error) { return 1, nil },
			pool.Undo(func(int) error { runtime.Goexit(); return nil }))), ioerr.ErrLeft)
		close(l.goOn)
		synctest.Wait()
		succeeds(t, p.With(bg, id, leave))

		l.goOn = make(chan struct{})
		undoing, undo := make(chan struct{}), make(chan struct{})
		require.ErrorIs(t, second(pool.Offload(within(t, time.Second), p, func(context.Context) (int, error) { return 1, nil },
			pool.Undo(func(int) error { close(undoing); <-undo; return errors.New("cannot") }))), ioerr.ErrLeft)
		close(l.goOn)
		<-undoing
		require.Error(t, p.Shutdown(within(t, time.Second))) // it waits
		close(undo)
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || report.FailedTotal != 2 {
			t.Errorf("%+v", report)
		}
		require.NoError(t, inner.Shutdown(bg))
	})
}

// The limit of the lane ends the context of the call, so that one that listens ends.
func TestTheLimitEndsTheContextOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{CallLimit: time.Second})
		cancellable, cancel := context.WithCancel(bg)
		defer cancel()
		for _, ctx := range []context.Context{bg, cancellable} {
			var cause error
			err := second(pool.Offload(ctx, p, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				cause = context.Cause(ctx)
				return 0, ctx.Err()
			}))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, cause, ioerr.ErrCallLimit)
			if e := typed(t, err); e.Origin != ioerr.Leaf || e.Effect != ioerr.Done {
				t.Errorf("%#v", e) // it was received
			}
		}
		closes(t, p)
	})
}

// A shutdown from inside a call that was left, or from its Undo, is told apart without
// a context.
func TestShutdownFromInsideALeftCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
		g := newGate()
		got := make(chan error, 2)
		require.ErrorIs(t, second(pool.Offload(within(t, time.Second), p, func(ctx context.Context) (int, error) {
			_ = g.pass(ctx)
			got <- p.Shutdown(within(t, time.Minute))
			return 1, nil
		}, pool.Undo(func(int) error { got <- p.Shutdown(within(t, time.Minute)); return nil }))), ioerr.ErrLeft)
		g.open()
		require.ErrorIs(t, <-got, ioerr.ErrReentry)
		require.ErrorIs(t, <-got, ioerr.ErrReentry)
		closes(t, p)
	})
}

// The report of a shutdown counts calls that were left, with a label or without.
func TestTheReportCountsLeftCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
		g := newGate()
		for _, opts := range [][]pool.Option{nil, {pool.Label("a")}} {
			require.ErrorIs(t, second(pool.Offload(within(t, time.Second), p, func(ctx context.Context) (int, error) { return 0, g.pass(ctx) }, opts...)), ioerr.ErrLeft)
		}
		running := start(func() error { return p.Do(bg, g.pass) })
		waits(t, running)
		report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || len(report.Running) != 1 || report.Running[0].Label != "a" || report.Others != 2 {
			t.Errorf("%+v", report)
		}
		g.open()
		succeeds(t, ended(t, running))
		closes(t, p)
	})
}

// Handles of several pools on one lane are different ones, whatever their numbers.
func TestLeftCallsOfOnePoolHoldNoHandleOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Grace: time.Second})
		require.NoError(t, err)
		p, q := makePool(t, pool.Config[int]{Lane: l}), makePool(t, pool.Config[int]{Lane: l})
		a, b := adopt(t, p, 1), adopt(t, q, 2)
		g := newGate()
		require.ErrorIs(t, second(pool.OffloadOn(within(t, time.Second), p, a, func(ctx context.Context, _ int) (int, error) { return 0, g.pass(ctx) })), ioerr.ErrLeft)
		succeeds(t, second(pool.OffloadOn(bg, q, b, func(context.Context, int) (int, error) { return 0, nil })))
		succeeds(t, q.With(bg, b, leave, pool.Label("x")))
		g.open()
		closes(t, p)
		closes(t, q)
		require.NoError(t, l.Shutdown(bg))
	})
}

// The outcome of a call that was left is what its context says, not the cause.
func TestTheOutcomeOfALeftCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
		g := newGate()
		ctx, cancel := context.WithCancelCause(bg)
		time.AfterFunc(time.Second, func() { cancel(context.DeadlineExceeded) })
		err := second(pool.Offload(ctx, p, func(ctx context.Context) (int, error) { return 0, g.pass(ctx) }))
		if e, _ := errors.AsType[*ioerr.Error](err); e == nil || e.Outcome != ioerr.Cancelled || e.Effect != ioerr.Unknown {
			t.Errorf("%#v", e)
		}
		g.open()
		closes(t, p)
	})
}

// The context of a call that may be left says all that its caller's says, ends with the
// shutdown that gives up on it, and has ended after it.
func TestTheContextOfACallThatMayBeLeft(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		for _, ctx := range []context.Context{bg, context.WithValue(deadlined(t), keyType{}, 42)} {
			given := make(chan context.Context, 1)
			succeeds(t, second(pool.Offload(ctx, p, func(ctx context.Context) (int, error) {
				given <- ctx
				return 0, ctx.Err()
			})))
			got := <-given
			require.Equal(t, ctx.Value(keyType{}), got.Value(keyType{}))
			want, has := ctx.Deadline()
			deadline, ok := got.Deadline()
			require.Equal(t, has, ok)
			require.Equal(t, want, deadline)
			if _, carries := g.lane.(lane.Carrier); carries {
				require.ErrorIs(t, got.Err(), context.Canceled)
				<-got.Done()
			}
		}
		running := start(func() error {
			return second(pool.Offload(bg, p, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}))
		})
		waits(t, running)
		require.Error(t, p.Shutdown(within(t, time.Second)))
		require.ErrorIs(t, ended(t, running), ioerr.ErrShutdown)
		closes(t, p)
	})
}

// Law: when a shutdown gives up, the callers of calls that go on leave them after the
// grace: the second stage of a shutdown.
func TestAShutdownThatGivesUpLetsCallersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{Config: lane.Config{Name: laneName, Workers: 2}, CallLimit: lane.NoLimit})
		id := adopt(t, p, 1)
		g := newGate()
		hangs := start(func() error {
			return second(pool.OffloadOn(bg, p, id, func(ctx context.Context, _ int) (int, error) { return 0, g.pass(ctx) }))
		})
		listens := start(func() error {
			return second(pool.Offload(bg, p, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }))
		})
		waits(t, hangs)
		waits(t, listens)
		require.Error(t, p.Shutdown(within(t, time.Minute)))
		want{outcome: ioerr.Failed, origin: ioerr.Leaf, effect: ioerr.Done, err: ioerr.ErrShutdown, lane: laneName}.check(t, ended(t, listens))
		time.Sleep(time.Second)
		want{outcome: ioerr.ShutdownInProgress, origin: ioerr.Lane, effect: ioerr.Unknown, err: ioerr.ErrLeft, id: id, lane: laneName}.check(t, ended(t, hangs))
		g.open()
		closes(t, p)
	})
}
