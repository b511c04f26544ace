package pool_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// scene is a pool with one idle and one busy handle, on a lane of one slot whose
// queue and waiting room take one call each.
type scene struct {
	t          *testing.T
	p          *pool.Pool[int]
	idle, busy handle.ID
	free       func() // the slot, which the holder of busy has
	cleanup    []func()
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, p: makePool(t, pool.Config[int]{
		Waiters: 1,
		Threads: lane.Config{Name: laneName, Workers: 1, Queue: 1, Waiters: 1},
		Dispose: func(r int) error {
			if r == 2 {
				return fs.ErrInvalid
			}
			return nil
		},
	})}
	s.idle, s.busy = adopt(t, s.p, 1), adopt(t, s.p, 1)
	gate := newGate()
	s.background(func() error { return s.p.With(bg, s.busy, hold[int](gate)) })
	s.free = sync.OnceFunc(gate.open)
	return s
}

// background starts a call that ends in whatever way.
func (s *scene) background(fn func() error) {
	end := start(fn)
	synctest.Wait()
	s.cleanup = append(s.cleanup, func() { _ = typed(s.t, <-end) })
}

// within is a context that ends by the given kind, in a second, with a cause.
func (s *scene) within(kind error, cause error) context.Context {
	if kind == context.DeadlineExceeded {
		ctx, cancel := context.WithTimeoutCause(bg, time.Second, cause)
		s.cleanup = append(s.cleanup, cancel)
		return ctx
	}
	ctx, cancel := context.WithCancelCause(bg)
	go func() { time.Sleep(time.Second); cancel(cause) }()
	return ctx
}

// Law: each situation has one answer, complete: how it ended, who ended it,
// whether it ran, what it was about.
func TestBorder(t *testing.T) {
	cause := errors.New("cause")
	label := pool.Label("x")
	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	failsWith := func(err error) func(context.Context, int) error {
		return func(context.Context, int) error { return err }
	}
	failed, cancelled, late, down := ioerr.Failed, ioerr.Cancelled, ioerr.TimedOut, ioerr.ShutdownInProgress
	leaf, onHandle, executor, onLane := ioerr.Leaf, ioerr.Handle, ioerr.Executor, ioerr.Lane
	none, done, unknown := ioerr.None, ioerr.Done, ioerr.Unknown
	type row struct {
		name string
		do   func(s *scene) error
		want want
		id   func(s *scene) handle.ID
	}
	idle := func(s *scene) handle.ID { return s.idle }
	busy := func(s *scene) handle.ID { return s.busy }
	for _, test := range []row{
		{"the call fails", func(s *scene) error { s.free(); return s.p.Do(bg, fails(fs.ErrExist), label) },
			want{failed, leaf, done, fs.ErrExist, noID, "x", laneName}, nil},
		{"the transaction fails", func(s *scene) error { s.free(); return s.p.With(bg, s.idle, failsWith(fs.ErrExist), label) },
			want{failed, leaf, done, fs.ErrExist, noID, "x", laneName}, idle},
		{"the call says that it was cancelled", func(s *scene) error { s.free(); return s.p.Do(bg, fails(context.Canceled)) },
			want{failed, leaf, done, context.Canceled, noID, "", laneName}, nil},
		{"the call says that it timed out", func(s *scene) error { s.free(); return s.p.Do(bg, fails(context.DeadlineExceeded)) },
			want{failed, leaf, done, context.DeadlineExceeded, noID, "", laneName}, nil},
		{"the call says that something shuts down", func(s *scene) error { s.free(); return s.p.Do(bg, fails(ioerr.ErrShutdown)) },
			want{failed, leaf, done, ioerr.ErrShutdown, noID, "", laneName}, nil},
		{"the call panics", func(s *scene) error {
			s.free()
			return s.p.Do(bg, func(context.Context) error { panic(fs.ErrExist) }, label)
		}, want{failed, leaf, done, fs.ErrExist, noID, "x", laneName}, nil},
		{"queue full", func(s *scene) error {
			s.background(func() error { return s.p.Do(bg, nothing) })
			return s.p.Do(bg, nothing, pool.FailFast, label)
		}, want{failed, onLane, none, ioerr.ErrQueueFull, noID, "", laneName}, nil},
		{"overloaded", func(s *scene) error {
			s.background(func() error { return s.p.Do(bg, nothing) })
			s.background(func() error { return s.p.Do(bg, nothing) })
			return s.p.Do(bg, nothing, label)
		}, want{failed, onLane, none, ioerr.ErrOverloaded, noID, "", laneName}, nil},
		{"not accepted by the lane", func(s *scene) error {
			s.background(func() error { return s.p.Do(bg, nothing) })
			return s.p.Do(bg, nothing, pool.AcceptWithin(time.Second), label)
		}, want{late, onLane, none, ioerr.ErrAcceptTimeout, noID, "", laneName}, nil},
		{"re-entry on the lane", func(s *scene) (err error) {
			s.free()
			_ = s.p.Do(bg, func(ctx context.Context) error { err = s.p.Do(ctx, nothing, label); return nil })
			return err
		}, want{failed, onLane, none, ioerr.ErrReentry, noID, "", laneName}, nil},
		{"cancelled in the queue", func(s *scene) error { return s.p.Do(s.within(context.Canceled, cause), nothing, label) },
			want{cancelled, onLane, none, cause, noID, "x", laneName}, nil},
		{"timed out in the queue", func(s *scene) error { return s.p.With(s.within(context.DeadlineExceeded, cause), s.idle, leave, label) },
			want{late, onLane, none, cause, noID, "x", laneName}, idle},
		{"cancelled on arrival", func(s *scene) error {
			ctx := s.within(context.Canceled, cause)
			<-ctx.Done()
			return s.p.With(ctx, s.idle, leave, label)
		}, want{cancelled, executor, none, cause, noID, "", laneName}, nil},
		{"timed out on arrival", func(s *scene) error {
			ctx := s.within(context.DeadlineExceeded, cause)
			<-ctx.Done()
			return s.p.Do(ctx, nothing, label)
		}, want{late, executor, none, cause, noID, "", laneName}, nil},
		{"no such handle", func(s *scene) error { return s.p.With(bg, noID, leave, label) },
			want{failed, onHandle, none, ioerr.ErrHandleNotFound, noID, "x", laneName}, nil},
		{"another pool's handle", func(s *scene) error { return s.p.With(bg, handle.Make(1, 2, 3), leave, label) },
			want{failed, onHandle, none, ioerr.ErrScopeMismatch, noID, "x", laneName}, func(*scene) handle.ID { return handle.Make(1, 2, 3) }},
		{"handle busy", func(s *scene) error { return s.p.With(bg, s.busy, leave, pool.FailFast, label) },
			want{failed, onHandle, none, ioerr.ErrHandleBusy, noID, "", laneName}, nil},
		{"too many wait for the handle", func(s *scene) error {
			s.background(func() error { return s.p.With(bg, s.busy, leave) })
			return s.p.With(bg, s.busy, leave, label)
		}, want{failed, onHandle, none, ioerr.ErrWaitersFull, noID, "", laneName}, nil},
		{"not accepted by the handle", func(s *scene) error { return s.p.With(bg, s.busy, leave, pool.AcceptWithin(time.Second), label) },
			want{late, onHandle, none, ioerr.ErrAcceptTimeout, noID, "", laneName}, nil},
		{"re-entry on the handle", func(s *scene) (err error) {
			s.free()
			_ = s.p.With(bg, s.idle, func(ctx context.Context, _ int) error { err = s.p.With(ctx, s.idle, leave, label); return nil })
			return err
		}, want{failed, onHandle, none, ioerr.ErrReentry, noID, "", laneName}, nil},
		{"cancelled before the handle", func(s *scene) error { return s.p.With(s.within(context.Canceled, cause), s.busy, leave, label) },
			want{cancelled, onHandle, none, cause, noID, "x", laneName}, busy},
		{"timed out before the handle", func(s *scene) error { return s.p.With(s.within(context.DeadlineExceeded, cause), s.busy, leave, label) },
			want{late, onHandle, none, cause, noID, "x", laneName}, busy},
		{"destroyed while it waits", func(s *scene) error {
			go func() {
				time.Sleep(time.Second)
				s.background(func() error { return s.p.Destroy(bg, s.busy) })
			}()
			return s.p.With(bg, s.busy, leave, label)
		}, want{failed, onHandle, none, ioerr.ErrHandleNotFound, noID, "x", laneName}, busy},
		{"shut down", func(s *scene) error { s.free(); _ = s.p.Close(); return s.p.With(bg, s.idle, leave, label) },
			want{down, executor, none, ioerr.ErrShutdown, noID, "", laneName}, nil},
		{"shut down before the handle", func(s *scene) error {
			go func() { time.Sleep(time.Second); s.background(s.p.Close) }()
			return s.p.With(bg, s.busy, leave, label)
		}, want{down, executor, none, ioerr.ErrShutdown, noID, "", laneName}, nil},
		{"shut down in the waiting room", func(s *scene) error {
			s.background(func() error { return s.p.Do(bg, nothing) })
			go func() { time.Sleep(time.Second); s.background(s.p.Close) }()
			return s.p.Do(bg, nothing, label)
		}, want{down, executor, none, ioerr.ErrShutdown, noID, "", laneName}, nil},
		{"opened during the shutdown", func(s *scene) error {
			s.free()
			_, err := s.p.Register(bg, func(context.Context) (int, error) { s.background(s.p.Close); return 1, nil }, label)
			e := typed(s.t, err)
			if e != nil && e.Handle == nil {
				s.t.Error("no handle")
			}
			e.Handle = nil
			return e
		}, want{down, executor, done, ioerr.ErrShutdown, noID, "x", laneName}, nil},
		{"destroy stops waiting", func(s *scene) error { return s.p.Destroy(s.within(context.DeadlineExceeded, cause), s.busy) },
			want{late, executor, unknown, cause, noID, "", laneName}, busy},
		{"destroy of a foreign handle", func(s *scene) error { return s.p.Destroy(bg, handle.Make(1, 2, 3)) },
			want{failed, onHandle, none, ioerr.ErrScopeMismatch, noID, "", laneName}, func(*scene) handle.ID { return handle.Make(1, 2, 3) }},
		{"the hook fails", func(s *scene) error { s.free(); return s.p.Destroy(bg, adopt(s.t, s.p, 2)) },
			want{failed, leaf, done, fs.ErrInvalid, noID, "", laneName}, func(s *scene) handle.ID { return s.p.IDFromUint64(2<<32 | 1) }},
		{"shutdown stops waiting", func(s *scene) error { return s.p.Shutdown(s.within(context.Canceled, cause)) },
			want{cancelled, executor, unknown, cause, noID, "", laneName}, nil},
		{"shutdown from inside", func(s *scene) (err error) {
			s.free()
			_ = s.p.Do(bg, func(ctx context.Context) error { err = s.p.Shutdown(ctx); return nil })
			return err
		}, want{failed, executor, none, ioerr.ErrReentry, noID, "", laneName}, nil},
		{"shutdown with a failed hook", func(s *scene) error { adopt(s.t, s.p, 2); s.free(); return s.p.Close() },
			want{failed, executor, done, fs.ErrInvalid, noID, "", laneName}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				w := test.want
				if test.id != nil {
					w.id = test.id(s)
				}
				w.check(t, test.do(s))
				s.free()
				for len(s.cleanup) > 0 {
					last := s.cleanup[len(s.cleanup)-1]
					s.cleanup = s.cleanup[:len(s.cleanup)-1]
					last()
				}
				_ = typed(t, s.p.Close())
			})
		})
	}
}
