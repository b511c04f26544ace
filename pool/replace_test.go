package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func TestReplaceExchangesTheResourceUnderTheSameID(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		old, fresh := shop.make(), shop.make()
		id := adopt(t, p, old)
		succeeds(t, p.Replace(bg, id, func(_ context.Context, r *thing) (*thing, error) {
			if r != old {
				t.Error("open did not get the old one")
			}
			r.use()
			r.done()
			return fresh, nil
		}))
		synctest.Wait()
		if old.disposed.Load() != 1 || fresh.disposed.Load() != 0 {
			t.Errorf("old disposed of %d times, fresh %d", old.disposed.Load(), fresh.disposed.Load())
		}
		succeeds(t, p.With(bg, id, func(_ context.Context, r *thing) error {
			if r != fresh {
				t.Error("the old one is still there")
			}
			return nil
		}))
		closes(t, p)
		shop.allBack()
	})
}

// Law: when open fails in whatever way, the old one stays.
func TestFailedReplaceKeepsTheOldOne(t *testing.T) {
	broken := errors.New("broken")
	for name, open := range map[string]func() error{
		"error":  func() error { return broken },
		"panic":  func() error { panic(broken) },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
				old := shop.make()
				id := adopt(t, p, old)
				end := make(chan error, 1)
				go func() {
					defer close(end)
					end <- p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return nil, open() })
				}()
				if err, returned := <-end; returned {
					w := leaf(broken)
					if name == "Goexit" { // on a lane that carries it ends no goroutine of the caller's
						w = leaf(ioerr.ErrGoexit)
					}
					w.id, w.lane = id, laneName
					w.check(t, err)
				}
				succeeds(t, p.With(bg, id, func(_ context.Context, r *thing) error {
					if r != old {
						t.Error("the old one is gone")
					}
					return with(nothing)(bg, r)
				}))
				closes(t, p)
				shop.allBack()
			})
		})
	}
}

// Law: an open that finds the old one fit may return it; it is then not disposed
// of under the hands of the next user.
func TestReplaceByTheOldOneItselfChangesNothing(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		succeeds(t, p.Replace(bg, id, func(_ context.Context, r *thing) (*thing, error) { return r, nil }))
		synctest.Wait()
		succeeds(t, p.With(bg, id, with(nothing)))
		closes(t, p)
		shop.allBack()
	})
	t.Run("resources that cannot be compared are all different", func(t *testing.T) {
		var disposed atomic.Int64
		p := makePool(t, pool.Config[any]{Dispose: func(any) error { disposed.Add(1); return nil }})
		id := adopt[any](t, p, []int{1})
		succeeds(t, p.Replace(bg, id, func(_ context.Context, r any) (any, error) { return r, nil }))
		succeeds(t, p.Replace(bg, id, func(_ context.Context, r any) (any, error) { return 1, nil }))
		succeeds(t, p.Replace(bg, id, func(_ context.Context, r any) (any, error) { return nil, nil }))
		succeeds(t, p.Replace(bg, id, func(_ context.Context, r any) (any, error) { return nil, nil }))
		closes(t, p)
		if n := disposed.Load(); n != 4 {
			t.Errorf("%d disposed of, want 4", n)
		}
	})
}

// Law: if the handle is retired while open runs, both resources are disposed of,
// and the error is that of the lifecycle.
func TestReplaceOfAHandleThatIsRetiredMeanwhileDisposesOfBoth(t *testing.T) {
	for name, w := range map[string]want{
		"by Destroy":  {ioerr.Failed, ioerr.Handle, ioerr.Done, ioerr.ErrHandleNotFound, noID, "exchange", laneName},
		"by Shutdown": {ioerr.ShutdownInProgress, ioerr.Executor, ioerr.Done, ioerr.ErrShutdown, noID, "exchange", laneName},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
				id := adopt(t, p, shop.make())
				opening := newGate()
				exchange := start(func() error {
					return p.Replace(bg, id, func(ctx context.Context, _ *thing) (*thing, error) {
						return shop.make(), opening.pass(ctx)
					}, pool.Label("exchange"))
				})
				opening.await(t, 1)
				gone := start(func() error {
					if name == "by Destroy" {
						return p.Destroy(bg, id)
					}
					return p.Close()
				})
				waits(t, gone)
				opening.open()
				w.id = id
				w.check(t, ended(t, exchange))
				succeeds(t, ended(t, gone))
				closes(t, p)
				shop.allBack()
				if made, _ := shop.count(); made != 2 {
					t.Errorf("%d made", made)
				}
			})
		})
	}
}

// Law: in any interleaving of Replace, Destroy and Shutdown each resource is
// disposed of exactly once.
func TestReplaceAgainstDestroyAndShutdown(t *testing.T) {
	for i := range rounds(300, 30_000) {
		shop := newShop(t)
		p := on(places[i%len(places)].settle(t, lane.Config{Workers: 2}), pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		done := make(chan error, 5)
		for range 3 {
			go func() {
				done <- p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil })
			}()
		}
		go func() { done <- p.Destroy(bg, id) }()
		go func() { done <- p.Close() }()
		for range 5 {
			if err := <-done; err != nil && !errors.Is(err, ioerr.ErrHandleNotFound) {
				is(t, err, ioerr.ErrShutdown)
			}
		}
		closes(t, p)
		shop.allBack()
	}
}
