package pool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

type keyType struct{}

// inCalls runs look inside a call and inside a transaction with the given context.
func inCalls(t *testing.T, caller func(*testing.T) context.Context, look func(t *testing.T, ctx context.Context)) {
	t.Helper()
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		ctx := caller(t)
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		succeeds(t, p.Do(ctx, func(ctx context.Context) error { look(t, ctx); return nil }))
		succeeds(t, p.With(ctx, id, func(ctx context.Context, _ int) error { look(t, ctx); return nil }))
		closes(t, p)
	})
}

// Law: the context of a call is the caller's in all that a context says.
func TestContextOfACallIsTheCallers(t *testing.T) {
	t.Run("values", func(t *testing.T) {
		inCalls(t, func(*testing.T) context.Context { return context.WithValue(bg, keyType{}, 42) }, func(t *testing.T, ctx context.Context) {
			if v := ctx.Value(keyType{}); v != 42 {
				t.Errorf("value %v", v)
			}
			if v := ctx.Value("no such key"); v != nil {
				t.Errorf("value %v", v)
			}
		})
	})
	t.Run("deadline", func(t *testing.T) {
		inCalls(t, deadlined, func(t *testing.T, ctx context.Context) {
			if d, ok := ctx.Deadline(); !ok || !d.Equal(time.Now().Add(time.Hour)) {
				t.Errorf("deadline %v, %v", d, ok)
			}
		})
	})
	t.Run("alive", func(t *testing.T) {
		for _, caller := range []func(*testing.T) context.Context{
			deadlined,
			func(*testing.T) context.Context { return bg },
			func(*testing.T) context.Context { return context.TODO() },
			func(t *testing.T) context.Context { return context.WithoutCancel(deadlined(t)) },
			func(t *testing.T) context.Context { return custom{deadlined(t)} },
		} {
			inCalls(t, caller, func(t *testing.T, ctx context.Context) {
				if ctx.Err() != nil || context.Cause(ctx) != nil {
					t.Errorf("dead: %v, %v", ctx.Err(), context.Cause(ctx))
				}
				select {
				case <-ctx.Done():
					t.Error("done")
				default:
				}
			})
		}
	})
}

// Law: when the caller's context ends, so does the call's, with the same error
// and cause, whichever of its methods is asked first.
func TestContextOfACallEndsWithTheCallers(t *testing.T) {
	cause := errors.New("cause")
	for name, end := range map[string]struct {
		make func() (context.Context, func())
		err  error
	}{
		"cancelled": {func() (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(bg)
			return ctx, func() { cancel(cause) }
		}, context.Canceled},
		"timed out": {func() (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(bg, time.Second, cause)
			return ctx, func() { time.Sleep(time.Second + 1); cancel() }
		}, context.DeadlineExceeded},
	} {
		for first, ask := range map[string]func(context.Context){
			"Err":   func(ctx context.Context) { _ = ctx.Err() },
			"Done":  func(ctx context.Context) { ctx.Done() },
			"Value": func(ctx context.Context) { ctx.Value(keyType{}) },
			"Cause": func(ctx context.Context) { _ = context.Cause(ctx) },
		} {
			t.Run(name+", "+first+" first", func(t *testing.T) {
				everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
					p := on(g, pool.Config[int]{})
					outer, cancel := end.make()
					succeeds(t, p.Do(outer, func(ctx context.Context) error {
						ask(ctx)
						derived, stop := context.WithCancel(ctx)
						defer stop()
						after := make(chan int)
						context.AfterFunc(ctx, func() { close(after) })
						cancel()
						synctest.Wait()
						for _, ctx := range []context.Context{ctx, derived} {
							select {
							case <-ctx.Done():
							default:
								t.Error("not done")
							}
							if ctx.Err() != end.err || context.Cause(ctx) != cause {
								t.Errorf("%v, %v", ctx.Err(), context.Cause(ctx))
							}
						}
						<-after
						return nil
					}))
					closes(t, p)
				})
			})
		}
	}
}

// Law: when Shutdown gives up on a call, the call's context ends, with ErrShutdown
// as its cause, whatever the caller's context is.
func TestContextOfACallEndsWhenShutdownGivesUp(t *testing.T) {
	alive, cancel := context.WithCancel(context.WithValue(bg, keyType{}, 42))
	defer cancel()
	dead, kill := context.WithCancelCause(bg)
	kill(errors.New("not yours"))
	for name, caller := range map[string]context.Context{
		"background":      bg,
		"values":          context.WithValue(bg, keyType{}, 42),
		"cancellable":     alive,
		"without cancel":  context.WithoutCancel(alive),
		"custom":          custom{alive},
		"uncomparable":    sliced{alive, nil},
		"detached":        detached{alive},
		"detached, dead":  detached{dead},
		"with a deadline": deadlined(t),
	} {
		for how, listen := range map[string]func(context.Context) <-chan struct{}{
			"Done before": func(ctx context.Context) <-chan struct{} { return ctx.Done() },
			"derived before": func(ctx context.Context) <-chan struct{} {
				ctx, cancel := context.WithCancel(ctx)
				t.Cleanup(cancel)
				return ctx.Done()
			},
			"AfterFunc before": func(ctx context.Context) <-chan struct{} {
				c := make(chan struct{})
				context.AfterFunc(ctx, func() { close(c) })
				return c
			},
			"nothing before": nil,
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				p := makePool(t, pool.Config[int]{})
				in := make(chan int)
				down := make(chan error, 1)
				call := start(func() error {
					return p.Do(caller, func(ctx context.Context) error {
						var heard <-chan struct{}
						if listen != nil {
							heard = listen(ctx)
						}
						close(in)
						err := <-down
						_ = typed(t, err)
						if heard != nil {
							<-heard
						}
						<-ctx.Done()
						if ctx.Err() != context.Canceled || context.Cause(ctx) != ioerr.ErrShutdown {
							t.Errorf("%v, cause %v", ctx.Err(), context.Cause(ctx))
						}
						later, cancel := context.WithCancel(ctx)
						defer cancel()
						<-later.Done()
						if later.Err() != context.Canceled || context.Cause(later) != ioerr.ErrShutdown {
							t.Errorf("derived later: %v, cause %v", later.Err(), context.Cause(later))
						}
						if v := ctx.Value(keyType{}); v != caller.Value(keyType{}) {
							t.Errorf("value %v", v)
						}
						return nil
					})
				})
				<-in
				dead, cancel := context.WithCancel(bg)
				cancel()
				down <- p.Shutdown(dead)
				succeeds(t, <-call)
				closes(t, p)
			})
		}
	}
}

// custom is a context that is none of the standard library's.
type custom struct{ context.Context }

// detached is how values were kept and cancellation was not before there was
// context.WithoutCancel.
type detached struct{ context.Context }

// sliced is a context that cannot be compared.
type sliced struct {
	context.Context
	_ []int
}

func (detached) Deadline() (time.Time, bool) { return time.Time{}, false }
func (detached) Done() <-chan struct{}       { return nil }
func (detached) Err() error                  { return nil }

func deadlined(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(bg, time.Hour)
	t.Cleanup(cancel)
	return ctx
}

// Law: the context is over when the call is: whatever was derived from it in the
// call ends, and nothing is left of it in the caller's context or in the pool.
func TestContextOfACallIsOverWithTheCall(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		outer, cancel := context.WithCancel(context.WithValue(bg, keyType{}, 42))
		defer cancel()
		for name, during := range map[string]func(context.Context){
			"Done in the call":    func(ctx context.Context) { ctx.Done() },
			"nothing in the call": func(context.Context) {},
		} {
			kept, err := pool.Run(outer, p, func(ctx context.Context) (context.Context, error) { during(ctx); return ctx, nil })
			succeeds(t, err)
			synctest.Wait()
			select {
			case <-kept.Done():
			default:
				t.Errorf("%s: not done after the call", name)
			}
			if kept.Err() != context.Canceled {
				t.Errorf("%s: Err() = %v after the call", name, kept.Err())
			}
			if context.Cause(kept) == nil {
				t.Errorf("%s: no cause", name)
			}
			if kept.Value(keyType{}) != 42 {
				t.Errorf("%s: the values are gone", name)
			}
			late, stop := context.WithCancel(kept)
			if late.Err() == nil {
				t.Errorf("%s: a context derived after the call is alive", name)
			}
			stop()
		}
		if outer.Err() != nil {
			t.Error("the caller's context ended")
		}
		closes(t, p)
	})
}

// The channel is one and the same for the whole call, and asking for it from many
// goroutines makes one.
func TestDoneIsOneChannel(t *testing.T) {
	p := makePool(t, pool.Config[int]{})
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	for range rounds(500, 50_000) {
		succeeds(t, p.Do(ctx, func(ctx context.Context) error {
			got := make(chan (<-chan struct{}), 4)
			for range 4 {
				go func() { got <- ctx.Done() }()
			}
			first := <-got
			for range 3 {
				if c := <-got; c != first {
					t.Error("two channels")
				}
			}
			if ctx.Done() != first {
				t.Error("another channel later")
			}
			return nil
		}))
	}
	closes(t, p)
}

// Law: the context of a nested call ends with each of those around it.
func TestContextOfANestedCallEndsWithTheOuterOnes(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		q := makePool(t, pool.Config[int]{})
		cause := errors.New("cause")
		outer, cancel := context.WithCancelCause(bg)
		succeeds(t, p.Do(outer, func(ctx context.Context) error {
			return q.Do(ctx, func(ctx context.Context) error {
				return p.Do(ctx, func(ctx context.Context) error {
					cancel(cause)
					<-ctx.Done()
					if context.Cause(ctx) != cause {
						t.Errorf("cause %v", context.Cause(ctx))
					}
					return nil
				})
			})
		}))
		in := newGate()
		call := start(func() error {
			return p.Do(bg, func(ctx context.Context) error {
				return q.Do(ctx, func(ctx context.Context) error { in.reached <- struct{}{}; <-ctx.Done(); return context.Cause(ctx) })
			})
		})
		in.await(t, 1)
		_, err := shutdownFor(t, p, time.Second) // the outer pool gives up
		is(t, err, context.DeadlineExceeded)
		is(t, ended(t, call), ioerr.ErrShutdown)
		closes(t, q)
		closes(t, p)
	})
}
