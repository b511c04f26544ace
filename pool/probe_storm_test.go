package pool_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: probes may be as far apart as a duration allows.
func TestProbesMayBeAsFarApartAsOneLikes(t *testing.T) {
	for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("Probe %d: %v", d, r)
				}
			}()
			var checks atomic.Int32
			p := makePool(t, pool.Config[int]{Health: pool.HealthRules{Down: 1, Probe: d, Bad: func(error) bool { return true }}, Check: func(int) error { checks.Add(1); return errIO }})
			id := adopt(t, p, 1)
			_ = p.With(bg, id, fails(errIO))
			time.Sleep(50 * time.Millisecond)
			if n := checks.Load(); n > 0 {
				t.Errorf("Probe %d: %d probes in 50 ms", d, n)
			}
			require.NoError(t, p.Shutdown(within(t, time.Second)))
		}()
	}
}

// Law: one probe of a resource at a time, whatever Replace does meanwhile.
func TestOneProbeAtATime(t *testing.T) {
	shop := newShop(t)
	p := makePool(t, pool.Config[*thing]{Dispose: shop.dispose, Threads: lane.Config{Workers: 8},
		Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Nanosecond},
		Check:  func(r *thing) error { r.use(); defer r.done(); time.Sleep(20 * time.Microsecond); return errIO }})
	var wg sync.WaitGroup
	stop := time.Now().Add(time.Duration(rounds(200, 20_000)) * time.Millisecond)
	for range 2 {
		id := adopt(t, p, shop.make())
		_ = p.With(bg, id, func(context.Context, *thing) error { return errIO })
		wg.Go(func() {
			for time.Now().Before(stop) && !t.Failed() {
				_ = p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return nil, errIO })
			}
		})
	}
	wg.Wait()
	closes(t, p)
}

// Law: whatever goes on at once, every handle comes back and nothing is lost.
func TestNothingStaysBarredInAStorm(t *testing.T) {
	for _, where := range places {
		if !where.bounded || where.shards > 1 {
			continue
		}
		t.Run(where.name, func(t *testing.T) {
			shop := newShop(t)
			p := on(where.settle(t, lane.Config{Workers: 4}), pool.Config[*thing]{Dispose: shop.dispose, HookWithin: 50 * time.Microsecond,
				Health:    pool.HealthRules{Stuck: 20 * time.Microsecond, Down: 1, Probe: 20 * time.Microsecond},
				Watch:     pool.Watch{Slow: 10 * time.Microsecond, Queue: 10 * time.Microsecond, Wedged: 40 * time.Microsecond},
				OnEvent:   func(pool.Event) {},
				Interrupt: func(*thing) { time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond) },
				Check: func(r *thing) error {
					r.use()
					defer r.done()
					time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
					if rand.IntN(4) == 0 {
						return errIO
					}
					return nil
				}})
			ids := []handle.ID{adopt(t, p, shop.make()), adopt(t, p, shop.make())}
			gone := adopt(t, p, shop.make())
			var wg sync.WaitGroup
			end := time.Now().Add(time.Duration(rounds(150, 2500)) * time.Millisecond)
			for range 6 {
				wg.Go(func() {
					for time.Now().Before(end) {
						id := ids[rand.IntN(2)]
						ctx, cancel := context.WithTimeout(bg, time.Duration(rand.IntN(100))*time.Microsecond)
						fn := with(func(context.Context) error {
							switch d := rand.IntN(60); {
							case d > 50:
								time.Sleep(time.Duration(d) * time.Microsecond)
							case d == 0:
								return pool.Poison(errIO)
							case d == 1:
								panic("x")
							}
							return nil
						})
						switch rand.IntN(8) {
						case 0, 1, 2:
							_ = p.With(ctx, id, fn)
						case 3, 4:
							_, _ = pool.OffloadOn(ctx, p, id, func(ctx context.Context, r *thing) (int, error) { return 0, fn(ctx, r) })
						case 5:
							_ = p.Replace(ctx, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
						case 6:
							_ = p.With(ctx, gone, fn)
						case 7:
							if rand.IntN(10) == 0 {
								_ = p.Dump(discard{})
								_ = p.Detach(gone)
							}
						}
						cancel()
					}
				})
			}
			wg.Wait()
			for _, id := range ids {
				ok := false
				for deadline := time.Now().Add(5 * time.Second); !ok && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
					if p.Health(id) == pool.Poisoned {
						_ = p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
					}
					ok = p.With(bg, id, with(nothing)) == nil
				}
				if !ok {
					t.Errorf("never well again: %v; %v", p.Health(id), p.With(bg, id, with(nothing)))
				}
			}
			ctx, cancel := context.WithTimeout(bg, 10*time.Second)
			defer cancel()
			if err := p.Shutdown(ctx); err != nil && p.Stats().State != pool.Closed {
				t.Errorf("%v", err)
				_ = p.Dump(t.Output())
			}
			if s := p.Stats(); s.Unwell != 0 {
				t.Errorf("unwell %d", s.Unwell)
			}
			hooksEnd(t, p)
			shop.allBack()
		})
	}
}

// Law: Replace, probes, poison and Detach at once lose no resource.
func TestReplaceProbeAndDetachAtOnce(t *testing.T) {
	for _, where := range places {
		t.Run(where.name, func(t *testing.T) {
			for range 100 {
				shop := newShop(t)
				p := on(where.settle(t, lane.Config{Workers: 4}), pool.Config[*thing]{Dispose: shop.dispose,
					Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: 10 * time.Microsecond},
					Check:  func(r *thing) error { r.use(); defer r.done(); return errIO }})
				ids := []handle.ID{adopt(t, p, shop.make()), adopt(t, p, shop.make())}
				var wg sync.WaitGroup
				for _, id := range ids {
					_ = p.With(bg, id, func(context.Context, *thing) error { return errIO })
					for range 2 {
						wg.Go(func() {
							_ = p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
						})
						wg.Go(func() { _ = p.With(bg, id, with(func(context.Context) error { return pool.Poison(errIO) })) })
						wg.Go(func() { _ = p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return nil, errIO }) })
					}
				}
				wg.Go(func() { _ = p.Detach(ids[0]) })
				wg.Wait()
				_ = p.Replace(bg, ids[1], func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
				if err := p.With(bg, ids[1], with(nothing)); err != nil {
					t.Error(err)
				}
				closes(t, p)
				shop.allBack()
			}
		})
	}
}

// Law: of a handle that is detached while its call gets stuck nothing stays.
func TestStuckAndDetachedAtOnce(t *testing.T) {
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 8}, Health: pool.HealthRules{Stuck: 50 * time.Microsecond, Down: 1, Probe: 100 * time.Microsecond}, Check: func(int) error { return errIO }})
	for range rounds(300, 3000) {
		id := adopt(t, p, 1)
		var wg sync.WaitGroup
		wg.Go(func() { _ = p.With(bg, id, takes(60*time.Microsecond)) })
		wg.Go(func() { time.Sleep(55 * time.Microsecond); _ = p.Detach(id) })
		wg.Wait()
	}
	for range 1000 {
		if p.Stats().Retired == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if s := p.Stats(); s.Unwell != 0 || s.Handles != 0 || s.Retired != 0 {
		t.Errorf("%+v", s)
	}
	closes(t, p)
}
