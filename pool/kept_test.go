package pool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: the context of a call that has ended is of no call any more, whatever was
// asked of it in the call.
func TestContextKeptAfterItsCallIsOfNoCallWhateverWasAskedOfIt(t *testing.T) {
	for name, ask := range map[string]func(context.Context){
		"nothing": func(context.Context) {},
		"Done":    func(ctx context.Context) { ctx.Done() },
		"derived": func(ctx context.Context) { _, cancel := context.WithCancel(ctx); cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
				if g.name == "sharded isolated" {
					t.Skip("where a call waits depends on its shard")
				}
				p := on(g, pool.Config[int]{})
				id := adopt(t, p, 1)
				outer, cancel := context.WithCancel(bg)
				defer cancel()
				kept, err := pool.Transact(outer, p, id, func(ctx context.Context, _ int) (context.Context, error) {
					ask(ctx)
					return context.WithoutCancel(ctx), nil
				})
				succeeds(t, err)
				busy := newGate()
				holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
				busy.await(t, 1)
				full := newGate()
				for range g.slots - 1 {
					spawn(t, func() error { return p.Do(bg, full.pass) })
				}
				synctest.Wait()
				queued, waiting := start(func() error { return p.Do(kept, nothing) }), start(func() error { return p.With(kept, id, leave) })
				waits(t, queued)
				waits(t, waiting)
				busy.open()
				full.open()
				for _, c := range []<-chan error{holder, queued, waiting} {
					succeeds(t, ended(t, c))
				}
				succeeds(t, p.Shutdown(kept))
			})
		})
	}
}

// Law: a call that lost its context and destroys something does not wait for its
// own shard.
func TestDestroyInsideAnIsolatedShardDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		l, err := lane.NewSharded(lane.ShardedConfig{Shards: 4, Isolated: true, Config: lane.Config{Workers: 1}})
		require.NoError(t, err)
		p := makePool(t, pool.Config[*thing]{Lane: l, OwnsLane: true, Dispose: shop.dispose})
		for range 16 {
			id := adopt(t, p, shop.make())
			call := start(func() error {
				return p.With(bg, adopt(t, p, shop.make()), with(func(context.Context) error { return p.Destroy(bg, id) }))
			})
			succeeds(t, ended(t, call))
		}
		closes(t, p)
		shop.allBack()
	})
}

// panics is a lane whose Enter panics, or ends the goroutine, as a context of the
// user's might make it do.
type panics struct {
	lane.Lane
	enter func()
}

func (l panics) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	if l.enter != nil && !c.Must {
		l.enter()
	}
	return l.Lane.Enter(ctx, c)
}

// Law: a panic on the way into the lane is the caller's, and keeps nothing: neither
// the handle nor a place in the pool's count.
func TestPanicOnTheWayInKeepsNothing(t *testing.T) {
	broken := errors.New("broken")
	for _, owned := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			shop := newShop(t)
			l := &panics{Lane: newMinimal("", 2), enter: func() { panic(broken) }}
			p := makePool(t, pool.Config[*thing]{Lane: l, OwnsLane: owned, Dispose: shop.dispose})
			id := adopt(t, p, shop.make())
			for name, call := range map[string]func(){
				"Do":       func() { _ = p.Do(bg, nothing) },
				"With":     func() { _ = p.With(bg, id, leave) },
				"Register": func() { _, _ = p.Register(bg, shop.open) },
			} {
				func() {
					defer func() {
						if r := recover(); r != broken {
							t.Errorf("%s: recovered %v", name, r)
						}
					}()
					call()
				}()
			}
			l.enter = nil
			succeeds(t, p.With(bg, id, with(nothing), pool.FailFast))
			down := start(p.Close)
			succeeds(t, ended(t, down))
			shop.allBack()
		})
	}
}
