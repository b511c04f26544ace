package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a fiber is a call whose operations are done one after the other, on any lane.
func TestAFiberDoesOperations(t *testing.T) {
	operated(t, need{}, 1, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		for _, ctx := range []context.Context{bg, ctx} {
			succeeds(t, p.Fiber(ctx, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				for range 3 {
					op := sleep(time.Second)
					succeeds(t, p.Operate(ctx, id, &op))
					succeeds(t, p.OperateAll(ctx, nil, nil))
				}
				op := sleep(2 * time.Hour)
				is(t, p.Operate(ctx, noID, &op), context.DeadlineExceeded)
				return nil
			}, pool.Label("f")))
		}
		is(t, p.Fiber(bg, func(context.Context) error { return errIO }), errIO)
		is(t, p.Fiber(bg, nil), ioerr.ErrInvalid)
		err := p.Fiber(bg, func(context.Context) error { panic(errIO) }, pool.Label("f"))
		e := typed(t, err)
		if pe, ok := errors.AsType[*ioerr.PanicError](err); !ok || pe.Value != errIO || e.Label != "f" || e.Effect != ioerr.Done {
			t.Errorf("%#v", e)
		}
		if s := p.Stats(); s.Failed != 3 || s.Panicked != 1 || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
		is(t, p.Fiber(bg, nothing), ioerr.ErrShutdown)
	})
	require.Error(t, (*pool.Pool[int])(nil).Fiber(bg, nothing))
	require.Error(t, new(pool.Pool[int]).Fiber(bg, nothing))
}

// Law: Goexit in a fiber ends its caller's goroutine, and gives everything back.
func TestGoexitInAFiberGivesEverythingBack(t *testing.T) {
	operated(t, need{}, 1, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		returned := make(chan bool, 1)
		go func() {
			back := false
			defer func() { returned <- back }()
			ignore(p.Fiber(bg, func(context.Context) error { runtime.Goexit(); return nil }))
			back = true
		}()
		require.False(t, <-returned)
		if s := p.Stats(); s.Exited != 1 || s.Failed != 1 || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		succeeds(t, p.Fiber(bg, nothing))
		closes(t, p)
	})
}

// Law: a shutdown waits for fibers, tells of them, and ends their contexts when it gives
// up; from inside one it is refused.
func TestAShutdownWaitsForFibers(t *testing.T) {
	operated(t, need{}, 1, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		inside := make(chan struct{})
		fiber := start(func() error {
			return p.Fiber(bg, func(ctx context.Context) error {
				is(t, p.Shutdown(ctx), ioerr.ErrReentry)
				is(t, p.Shutdown(bg), ioerr.ErrReentry) // by its stack
				close(inside)
				<-ctx.Done()
				is(t, p.Operate(ctx, noID, new(lane.Op)), ioerr.ErrShutdown)
				return context.Cause(ctx)
			})
		})
		<-inside
		over := start(p.Close)
		waits(t, over)
		report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || report.Others != 1 {
			t.Errorf("%+v", report)
		}
		is(t, ended(t, fiber), ioerr.ErrShutdown)
		succeeds(t, ended(t, over))
		closes(t, p)
	})
}

// Law: a fiber holds a slot only where it needs none for its operations.
func TestAFiberHoldsNoSlotButAnOperators(t *testing.T) {
	operated(t, need{bounded: true}, 1, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		_, native := g.lane.(lane.Operator)
		succeeds(t, p.Fiber(bg, func(ctx context.Context) error {
			want := 0
			if native {
				want = 1
			}
			require.Equal(t, want, p.Stats().Lane.Running)
			if native {
				is(t, p.Do(ctx, nothing), ioerr.ErrReentry)
			} else {
				succeeds(t, p.Do(ctx, nothing))
				succeeds(t, p.With(ctx, id, leave))
				succeeds(t, p.Fiber(ctx, nothing))
				succeeds(t, p.Destroy(ctx, id))
			}
			return nil
		}))
		closes(t, p)
	})
}

// Law: a lane knows its own fiber again, at once and behind other contexts.
func TestAnOperatorKnowsItsFibers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := operator(t, pool.Config[int]{}, 1)
		ids := []handle.ID{noID, adopt(t, p, 1)}
		var ran atomic.Int32
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		succeeds(t, p.Fiber(ctx, func(ctx context.Context) error {
			if _, ok := ctx.(fiberContext); !ok {
				t.Errorf("%T", ctx)
			}
			for _, id := range ids {
				var op lane.Op
				succeeds(t, p.Operate(ctx, id, &op))
				if _, got := l.last(); got != ctx {
					t.Errorf("the lane got %T", got)
				}
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				succeeds(t, p.Operate(derived, id, &op))
				cancel()
				ran.Add(2)
			}
			return nil
		}))
		if l.inFiber != 4 || ran.Load() != 4 {
			t.Errorf("%d operations in fibers", l.inFiber)
		}
		closes(t, p)
	})
}
