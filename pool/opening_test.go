package pool_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: to open a resource slowly is nothing that speaks against it.
func TestASlowOpeningSaysNothingAboutTheResource(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		var l log
		p := on(g, pool.Config[int]{OnEvent: l.add, Health: pool.HealthRules{Stuck: time.Second}})
		defer p.Close()
		id, err := p.Register(bg, func(context.Context) (int, error) { time.Sleep(2 * time.Second); return 1, nil })
		require.NoError(t, err)
		if h := p.Health(id); h != pool.Healthy {
			t.Errorf("new handle is %v, events %v", h, l.take())
		}
		first := newGate()
		holder := start(func() error { return p.With(bg, id, hold[int](first)) })
		first.await(t, 1)
		second := start(func() error { return p.With(bg, id, fails(nil)) }) // has only to wait its turn
		synctest.Wait()
		first.open()
		require.NoError(t, ended(t, holder))
		if err := ended(t, second); err != nil {
			t.Errorf("the second caller: %v", err)
		}
		if err := p.With(bg, id, fails(nil)); err != nil {
			t.Errorf("the third call: %v; health %v", err, p.Health(id))
		}
	})
}

// Law: an opening that fails leaves nothing behind, however slow it was.
func TestAnOpeningThatFailsLeavesNothingInTheWard(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Stuck: time.Second}})
		defer p.Close()
		for range 10 {
			_, err := p.Register(bg, func(context.Context) (int, error) { time.Sleep(2 * time.Second); return 0, errIO })
			require.Error(t, err)
		}
		s := p.Stats()
		if s.Handles != 0 || s.Unwell != 0 {
			t.Errorf("%d handles, %d unwell", s.Handles, s.Unwell)
		}
	})
}

// Law: a Replace that was slow leaves its handle open to all.
func TestASlowReplaceBarsNobody(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Stuck: time.Second}})
		defer p.Close()
		id := adopt(t, p, 1)
		require.NoError(t, p.Replace(bg, id, func(context.Context, int) (int, error) { time.Sleep(2 * time.Second); return 2, nil }))
		if h := p.Health(id); h != pool.Healthy {
			t.Errorf("replaced, and %v", h)
		}
		time.Sleep(time.Hour)
		for range 3 {
			first := newGate()
			holder := start(func() error { return p.With(bg, id, hold[int](first)) })
			synctest.Wait()
			second := start(func() error { return p.With(bg, id, fails(nil)) })
			synctest.Wait()
			first.open()
			if err := ended(t, holder); err != nil {
				t.Errorf("holder: %v", err)
			}
			if err := ended(t, second); err != nil {
				t.Errorf("the second caller: %v", err)
			}
		}
	})
}

// Law: a new resource is healthy, however long it took to open.
func TestAReplacedResourceIsHealthyHoweverLongThatTook(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Slow: time.Second, Down: 1}})
		defer p.Close()
		id := adopt(t, p, 1)
		require.NoError(t, p.Replace(bg, id, func(context.Context, int) (int, error) { time.Sleep(2 * time.Second); return 2, nil }))
		if h := p.Health(id); h != pool.Healthy {
			t.Errorf("replaced, and %v: %v", h, p.With(bg, id, fails(nil)))
		}
	})
}

// Law: a Replace that fails does not speak against the resource that stays.
func TestAReplaceThatFailsSaysNothingAboutTheOldOne(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1}})
		id := adopt(t, p, 1)
		require.ErrorIs(t, p.Replace(bg, id, func(context.Context, int) (int, error) { return 0, errIO }), errIO)
		if h := p.Health(id); h != pool.Healthy {
			t.Errorf("the old one, which nobody used, is %v", h)
		}
		closes(t, p)
	})
}

// Law: what was opened, and reaches nobody since its thread could not be put back, is disposed of.
func TestWhatWasOpenedIsDisposedOfThoughItsThreadIsSpoilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		p := makePool(t, pool.Config[*thing]{Dispose: shop.dispose, Lane: spoiling{minimal: newMinimal("l", 2)}, OwnsLane: true})
		_, err := p.Register(bg, shop.open)
		require.ErrorIs(t, err, errIO)
		id := adopt(t, p, shop.make())
		require.ErrorIs(t, p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil }), errIO)
		closes(t, p)
		shop.allBack()
	})
}

// Law: a handle may be destroyed, or its pool shut down, inside its own Replace.
func TestTheEndOfAHandleInsideItsOwnReplace(t *testing.T) {
	for _, sick := range []bool{false, true} {
		for name, end := range map[string]func(ctx context.Context, p *pool.Pool[*thing], id handle.ID) error{
			"Destroy":       func(_ context.Context, p *pool.Pool[*thing], id handle.ID) error { return p.Destroy(bg, id) },
			"Destroy inner": func(ctx context.Context, p *pool.Pool[*thing], id handle.ID) error { return p.Destroy(ctx, id) },
			"Detach":        func(_ context.Context, p *pool.Pool[*thing], id handle.ID) error { return p.Detach(id) },
			"Shutdown":      func(_ context.Context, p *pool.Pool[*thing], _ handle.ID) error { return p.Shutdown(bg) },
			"Replace": func(_ context.Context, p *pool.Pool[*thing], id handle.ID) error {
				return p.Replace(within(t, time.Second), id, func(context.Context, *thing) (*thing, error) { return nil, errIO })
			},
		} {
			t.Run(fmt.Sprint(name, sick), func(t *testing.T) {
				everywhere(t, need{}, lane.Config{Workers: 1}, func(t *testing.T, g *ground) {
					shop := newShop(t)
					p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
					id := adopt(t, p, shop.make())
					if sick {
						_ = p.With(bg, id, func(context.Context, *thing) error { return pool.Poison(errIO) })
					}
					c := start(func() error {
						return p.Replace(bg, id, func(ctx context.Context, _ *thing) (*thing, error) {
							_ = end(ctx, p, id)
							return shop.make(), nil
						})
					})
					time.Sleep(time.Hour)
					_ = ended(t, c)
					closes(t, p)
					shop.allBack()
				})
			})
		}
	}
}
