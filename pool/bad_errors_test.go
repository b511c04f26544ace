package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: the poison of a nested call is not that of the call around it.
func TestPoisonIsForTheHandleOfItsOwnCall(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		other := makePool(t, pool.Config[int]{})
		defer p.Close()
		defer other.Close()
		a, b, c := adopt(t, p, 1), adopt(t, p, 2), adopt(t, other, 3)
		require.Error(t, p.With(bg, a, func(ctx context.Context, _ int) error {
			if err := p.With(ctx, b, fails(pool.Poison(errIO))); err != nil {
				return fmt.Errorf("b: %w", err)
			}
			return nil
		}))
		if h := p.Health(b); h != pool.Poisoned {
			t.Errorf("b is %v", h)
		}
		if h := p.Health(a); h != pool.Healthy {
			t.Errorf("a is %v", h)
		}
		d := adopt(t, p, 4)
		require.Error(t, p.With(bg, d, func(ctx context.Context, _ int) error {
			return other.With(ctx, c, fails(pool.Poison(errIO)))
		}))
		if h := p.Health(d); h != pool.Healthy {
			t.Errorf("d is %v because of another pool's resource", h)
		}
	})
}

// Law: nor is its panic.
func TestAPanicIsHeldAgainstItsOwnResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Health: pool.HealthRules{Down: 1}})
		defer p.Close()
		a, b := adopt(t, p, 1), adopt(t, p, 2)
		require.Error(t, p.With(bg, a, func(ctx context.Context, _ int) error {
			return p.With(ctx, b, func(context.Context, int) error { panic("b") })
		}))
		if h := p.Health(a); h != pool.Healthy {
			t.Errorf("a is %v", h)
		}
	})
}

// Law: an error whose methods panic harms nobody.
func TestAnErrorThatIsANilPointerIsAnError(t *testing.T) {
	p := makePool(t, pool.Config[int]{})
	defer p.Close()
	id := adopt(t, p, 1)
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("With panicked: %v", r)
		}
	}()
	var pe *fs.PathError
	err := p.With(bg, id, fails(pe))
	require.Error(t, err)
}

// Law: nor where the lane runs the call.
func TestAnErrorThatIsANilPointerOnACarrier(t *testing.T) {
	p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
	defer p.Close()
	id := adopt(t, p, 1)
	var pe *fs.PathError
	_, err := pool.OffloadOn(bg, p, id, func(context.Context, int) (int, error) { return 0, pe })
	require.Error(t, err)
}

// Law: a panic in Bad speaks against the resource, is reported, and costs nothing.
func TestAPanicInBadIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := atomic.Bool{}
		p := makePool(t, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool {
			if bad.CompareAndSwap(false, true) {
				panic("bad")
			}
			return false
		}}})
		id := adopt(t, p, 1)
		require.ErrorIs(t, p.With(bg, id, fails(errIO)), errIO)
		if err := p.With(within(t, time.Hour), id, fails(nil)); err != nil {
			t.Errorf("the lease is lost: %v", err)
		}
		if err := p.Destroy(within(t, time.Hour), id); err != nil {
			t.Errorf("Destroy: %v", err)
		}
		badFailed(t, p)
	})
}

// Law: also where the lane runs the call.
func TestAPanicInBadOnACarrierIsReported(t *testing.T) {
	p := leaving(t, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { panic("bad") }}}, lane.AbandoningConfig{})
	id := adopt(t, p, 1)
	_, err := pool.OffloadOn(bg, p, id, func(context.Context, int) (int, error) { return 0, errIO })
	require.ErrorIs(t, err, errIO)
	badFailed(t, p)
}

// badFailed shuts a pool down that has to report that Bad has failed, and nothing else.
func badFailed(t *testing.T, p *pool.Pool[int]) {
	t.Helper()
	r, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Hour)))
	if !ok || len(r.Failed) != 1 || r.Failed[0].Hook != "bad" || len(r.Running)+r.Others+len(r.Undisposed) != 0 {
		t.Errorf("%+v", r)
	}
}

// Law: Goexit in Bad gives everything back.
func TestGoexitInBadGivesEverythingBack(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { runtime.Goexit(); return true }}})
		id := adopt(t, p, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = p.With(bg, id, fails(errIO))
		}()
		<-done
		badFailed(t, p)
	})
}

// Law: also where the lane runs the call.
func TestGoexitInBadOnACarrierGivesEverythingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { runtime.Goexit(); return true }}}, lane.AbandoningConfig{})
		id := adopt(t, p, 1)
		_, err := pool.OffloadOn(bg, p, id, func(context.Context, int) (int, error) { return 0, errIO })
		require.Error(t, err)
		badFailed(t, p)
	})
}

// Law: a shutdown, or the end of the handle, inside Bad does not wait for itself.
func TestShutdownInsideBadIsReentry(t *testing.T) {
	for _, how := range []string{"With", "Offload", "Replace"} {
		for _, what := range []string{"Shutdown", "Destroy"} {
			t.Run(how+" "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var got atomic.Pointer[error]
					var p *pool.Pool[int]
					hook, cancel := context.WithCancel(bg)
					var end func() error
					conf := pool.Config[int]{Dispose: func(int) error { return nil }, Health: pool.HealthRules{Bad: func(error) bool { err := end(); got.Store(&err); return true }}}
					if how == "Offload" {
						p = leaving(t, conf, lane.AbandoningConfig{})
					} else {
						p = makePool(t, conf)
					}
					id := adopt(t, p, 1)
					end = func() error {
						if what == "Shutdown" {
							return p.Shutdown(hook)
						}
						return p.Destroy(hook, id)
					}
					call := start(func() error {
						switch how {
						case "With":
							return p.With(bg, id, fails(errIO))
						case "Replace":
							return p.Replace(bg, id, func(context.Context, int) (int, error) { return 0, errIO })
						}
						_, err := pool.OffloadOn(bg, p, id, func(context.Context, int) (int, error) { return 0, errIO })
						return err
					})
					time.Sleep(time.Hour)
					if e := got.Load(); (e == nil) != (how == "Replace") { // which is not judged, and so does not ask
						t.Errorf("%s inside Bad: %v", what, e)
					}
					cancel()
					ignore(<-call)
					_ = p.Close()
				})
			})
		}
	}
}

// Law: hooks that panic or end their goroutine lose nothing, wherever they run.
func TestHooksThatPanicOrExitLoseNothing(t *testing.T) {
	for name, unwind := range map[string]func(){"panic": func() { panic("hook") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{HookWithin: time.Second,
					Dispose:   func(r *thing) error { _ = shop.dispose(r); unwind(); return nil },
					Interrupt: func(*thing) { unwind() },
					Check:     func(*thing) error { unwind(); return nil },
					OnEvent:   func(pool.Event) { unwind() },
					Health:    pool.HealthRules{Down: 1, Slow: time.Second, Probe: time.Second},
				})
				id := adopt(t, p, shop.make())
				for range 3 {
					_ = p.With(within(t, time.Second), id, with(func(ctx context.Context) error { time.Sleep(2 * time.Second); return nil }))
					time.Sleep(time.Minute)
					_ = p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
				}
				_ = p.Shutdown(within(t, time.Hour))
				if p.Stats().State != pool.Closed {
					t.Error("not closed")
				}
				shop.allBack()
			})
		})
	}
}
