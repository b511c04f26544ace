package pool_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: inside Interrupt nobody waits for himself.
func TestDestroyAndShutdownInsideInterrupt(t *testing.T) {
	for _, name := range []string{"Destroy", "Shutdown"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p *pool.Pool[int]
				var id handle.ID
				var ended atomic.Bool
				hook, cancel := context.WithCancel(bg)
				p = makePool(t, pool.Config[int]{HookWithin: time.Minute, Interrupt: func(int) {
					if name == "Destroy" {
						_ = p.Destroy(hook, id)
					} else {
						_ = p.Shutdown(hook)
					}
					ended.Store(true)
				}})
				id = adopt(t, p, 1)
				_ = p.With(within(t, time.Second), id, takes(2*time.Second))
				time.Sleep(time.Hour)
				if !ended.Load() {
					t.Errorf("%s inside Interrupt never returns", name)
				}
				if err := p.Shutdown(within(t, time.Hour)); err != nil {
					t.Errorf("the pool cannot be shut down: %v", err)
				}
				cancel()
				_ = p.Close()
			})
		})
	}
}

// Law: DisposeFailed counts disposals only.
func TestDisposeFailedCountsDisposals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Interrupt: func(int) { panic("hook") }})
		id := adopt(t, p, 1)
		_ = p.With(within(t, time.Second), id, takes(2*time.Second))
		if s := p.Stats(); s.DisposeFailed > s.Disposed {
			t.Errorf("%d disposed, of these %d badly", s.Disposed, s.DisposeFailed)
		}
		_ = p.Close()
	})
}

// Law: an Interrupt that hangs is counted, and hides no call from the report.
func TestAnInterruptThatHangsIsCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := newGate()
		p := makePool(t, pool.Config[int]{HookWithin: time.Second, Interrupt: func(int) { hook.stay() }})
		id := adopt(t, p, 1)
		_ = p.With(within(t, time.Second), id, takes(2*time.Second))
		if s := p.Stats(); s.HooksHanging != 1 {
			t.Errorf("HooksHanging %d", s.HooksHanging)
		}
		// The report: one call runs, without label or handle.
		gate := newGate()
		call := start(func() error { return p.Do(bg, gate.pass) })
		synctest.Wait()
		r, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || r.Others != 1 {
			t.Errorf("Others %d, Running %v: %v", r.Others, r.Running, r)
		}
		gate.open()
		hook.open()
		ignore(<-call)
		_ = p.Close()
	})
}

// Law: the time that Interrupt takes does not speak against the resource.
func TestTheTimeOfInterruptIsNotTheResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Interrupt: func(int) { time.Sleep(10 * time.Second) }, Health: pool.HealthRules{Stuck: 5 * time.Second, Down: 1}})
		id := adopt(t, p, 1)
		require.NoError(t, p.With(within(t, time.Second), id, takes(2*time.Second)))
		if h := p.Health(id); h != pool.Healthy {
			t.Errorf("the function took 2 s of 5 s, and the handle is %v: %v", h, p.With(bg, id, fails(nil)))
		}
		closes(t, p)
	})
}

// Law: calls inside Interrupt are refused or run, and never wait for themselves.
func TestCallsInsideInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *pool.Pool[int]
		var id handle.ID
		errs := make(chan error, 9)
		p = makePool(t, pool.Config[int]{HookWithin: time.Minute, Interrupt: func(int) {
			errs <- p.With(bg, id, fails(nil))
			errs <- p.Detach(id)
		}})
		id = adopt(t, p, 1)
		_ = p.With(within(t, time.Second), id, takes(2*time.Second))
		time.Sleep(time.Hour)
		t.Log(<-errs, <-errs)
		_ = p.Shutdown(within(t, time.Hour))
		require.Equal(t, pool.Closed, p.Stats().State)
	})
}

// Law: Interrupt is never called twice, nor after the disposal.
func TestInterruptEndAndDestroyAtOnce(t *testing.T) {
	for _, where := range places {
		t.Run(where.name, func(t *testing.T) {
			for range 150 {
				shop := newShop(t)
				var in sync.Map
				p := on(where.settle(t, lane.Config{Workers: 4}), pool.Config[*thing]{Dispose: shop.dispose, HookWithin: 20 * time.Microsecond,
					Interrupt: func(r *thing) {
						if r.disposed.Load() != 0 {
							t.Error("interrupted after disposal")
						}
						if n, _ := in.LoadOrStore(r, new(atomic.Int32)); n.(*atomic.Int32).Add(1) > 1 {
							t.Error("twice")
						}
						time.Sleep(30 * time.Microsecond)
						if r.disposed.Load() != 0 {
							t.Error("disposed of while interrupted")
						}
					}})
				id := adopt(t, p, shop.make())
				ctx, cancel := context.WithCancel(bg)
				var wg sync.WaitGroup
				wg.Go(func() { _ = p.With(ctx, id, with(func(context.Context) error { return nil })) })
				wg.Go(cancel)
				wg.Go(func() { _ = p.With(bg, id, with(nothing)) })
				wg.Go(func() { _ = p.Destroy(bg, id) })
				wg.Wait()
				c, cc := context.WithTimeout(bg, 10*time.Second)
				_ = p.Shutdown(c)
				cc()
				require.Equal(t, pool.Closed, p.Stats().State)
				hooksEnd(t, p)
				shop.allBack()
			}
		})
	}
}
