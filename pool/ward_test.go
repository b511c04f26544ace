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
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a resource that is kept from calls is disposed of once when it is destroyed,
// detached, or its pool shut down, also while it is probed, and not before the probe has
// ended.
func TestAHandleThatIsDownIsDisposedOfOnce(t *testing.T) {
	for how, end := range map[string]func(p *pool.Pool[*thing], id handle.ID) error{
		"Destroy":  func(p *pool.Pool[*thing], id handle.ID) error { return p.Destroy(bg, id) },
		"Detach":   func(p *pool.Pool[*thing], id handle.ID) error { return p.Detach(id) },
		"Shutdown": func(p *pool.Pool[*thing], _ handle.ID) error { return p.Shutdown(bg) },
	} {
		for _, probing := range []bool{false, true} {
			t.Run(how, func(t *testing.T) {
				everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
					shop := newShop(t)
					gate := newGate()
					p := on(g, pool.Config[*thing]{Dispose: shop.dispose,
						Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
						Check:  func(r *thing) error { r.use(); defer r.done(); gate.stay(); return errIO },
					})
					r := shop.make()
					id := adopt(t, p, r)
					require.ErrorIs(t, p.With(bg, id, func(context.Context, *thing) error { return errIO }), errIO)
					if probing {
						time.Sleep(2 * time.Second)
						require.Equal(t, pool.Probing, p.Health(id))
					}
					ends := start(func() error { return end(p, id) })
					synctest.Wait()
					if _, disposed := shop.count(); disposed == 1 == probing {
						t.Errorf("disposed of %d", disposed)
					}
					gate.open()
					require.NoError(t, ended(t, ends))
					require.Zero(t, p.Stats().Unwell)
					closes(t, p)
					shop.allBack()
				})
			})
		}
	}
}

// Law: a handle that is down can be given a new resource, which is healthy; if that
// cannot be opened, it stays down.
func TestAHandleThatIsDownCanBeReplaced(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		var gate atomic.Pointer[gate]
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose,
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check: func(*thing) error {
				if gate := gate.Load(); gate != nil {
					gate.stay()
				}
				return errIO
			},
		})
		id := adopt(t, p, shop.make())
		bad := func() error { return p.With(bg, id, func(context.Context, *thing) error { return errIO }) }
		require.ErrorIs(t, bad(), errIO)
		require.ErrorIs(t, p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return nil, errIO }), errIO)
		unfit(t, bad(), ioerr.ErrHandleDown, errIO)
		require.NoError(t, p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil }))
		require.Equal(t, pool.Healthy, p.Health(id))
		require.NoError(t, p.With(bg, id, with(nothing)))

		// While it is probed, Replace waits for the end of that.
		require.ErrorIs(t, bad(), errIO)
		probe := newGate()
		gate.Store(probe)
		time.Sleep(2 * time.Second)
		replaced := start(func() error {
			return p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
		})
		waits(t, replaced)
		impatient := p.Replace(within(t, time.Second), id, func(context.Context, *thing) (*thing, error) { t.Error("opened"); return nil, nil })
		require.Error(t, impatient)
		probe.open()
		require.NoError(t, ended(t, replaced))
		require.NoError(t, p.With(bg, id, with(nothing)))
		closes(t, p)
		shop.allBack()
	})
}

// Law: a probe that hangs costs nobody a slot; its resource is not touched until it ends.
func TestAProbeThatHangsGivesUpItsSlot(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Workers: 1}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		gate := newGate()
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Minute,
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check:  func(r *thing) error { r.use(); defer r.done(); gate.stay(); return nil },
		})
		id := adopt(t, p, shop.make())
		require.ErrorIs(t, p.With(bg, id, func(context.Context, *thing) error { return errIO }), errIO)
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, p.Stats().Lane.Running)
		time.Sleep(time.Minute)
		require.Equal(t, 0, p.Stats().Lane.Running)
		require.Equal(t, 1, p.Stats().HooksHanging)
		require.NoError(t, p.Do(bg, nothing))
		unfit(t, p.With(bg, id, with(nothing)), ioerr.ErrHandleDown, errIO)
		require.NoError(t, p.Detach(id))
		report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || len(report.Undisposed) != 1 {
			t.Errorf("%v", report)
		}
		gate.open()
		report, ok = errors.AsType[*pool.Report](p.Shutdown(bg))
		if !ok || len(report.Failed) != 1 || report.Failed[0].Hook != "check" || !errors.Is(report, ioerr.ErrHookTimeout) {
			t.Errorf("%v", report)
		}
		shop.allBack()
	})
}

// Law: a poisoned handle refuses with the cause until it is replaced or destroyed.
func TestAPoisonedHandleRefusesUntilItIsReplaced(t *testing.T) {
	for _, opts := range [][]pool.Option{nil, {pool.Label("fsync")}} {
		everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
			var l log
			shop := newShop(t)
			p := on(g, pool.Config[*thing]{Dispose: shop.dispose, OnEvent: l.add})
			id, other := adopt(t, p, shop.make()), adopt(t, p, shop.make())
			flush := func(context.Context, *thing) error { return pool.Poison(errIO) }
			for _, call := range []func() error{
				func() error { return p.With(bg, id, flush, opts...) },
				func() error {
					return second(pool.OffloadOn(bg, p, id, func(ctx context.Context, r *thing) (int, error) { return 1, flush(ctx, r) }, opts...))
				},
			} {
				err := call()
				e := typed(t, err)
				if !errors.Is(err, errIO) || !errors.Is(err, ioerr.ErrPoisoned) || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done {
					t.Errorf("%#v", e)
				}
				require.Equal(t, pool.Poisoned, p.Health(id))
				time.Sleep(time.Hour) // nothing heals it
				unfit(t, p.With(bg, id, with(nothing)), ioerr.ErrPoisoned, errIO)
				unfit(t, second(pool.OffloadOn(bg, p, id, func(context.Context, *thing) (int, error) { return 1, nil })), ioerr.ErrPoisoned, errIO)
				require.NoError(t, p.With(bg, other, with(nothing)))
				require.NoError(t, p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil }))
				require.NoError(t, p.With(bg, id, with(nothing)))
				require.Equal(t, []pool.EventKind{pool.HealthChanged, pool.HealthChanged}, kinds(l.take()))
			}
			require.ErrorIs(t, p.With(bg, id, flush), errIO)
			require.NoError(t, p.Destroy(bg, id))
			require.ErrorIs(t, p.With(bg, id, flush), ioerr.ErrHandleNotFound)
			require.ErrorIs(t, p.With(bg, other, flush), errIO)
			closes(t, p)
			shop.allBack()
		})
	}
	require.NoError(t, pool.Poison(nil))
	require.Equal(t, errIO.Error(), pool.Poison(errIO).Error())
}

// Law: of calls that end while their handle is being destroyed, none loses its resource to
// the ward.
func TestDownAndDestroyedAtOnce(t *testing.T) {
	for range rounds(20, 200) {
		shop := newShop(t)
		p := makePool(t, pool.Config[*thing]{Dispose: shop.dispose, Threads: lane.Config{Workers: 4},
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Microsecond}})
		id := adopt(t, p, shop.make())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 5 {
					_ = p.With(bg, id, func(context.Context, *thing) error { return errIO })
				}
			})
			wg.Go(func() {
				_ = p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
			})
		}
		wg.Go(func() { _ = p.Destroy(bg, id) })
		wg.Wait()
		closes(t, p)
		shop.allBack()
	}
}
