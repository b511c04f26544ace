package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func TestRegisteredResourceIsUsableAtOnce(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id, err := p.Register(bg, shop.open, pool.Label("open"))
		succeeds(t, err)
		if !p.Has(id) || id.IsZero() {
			t.Errorf("%v names nothing", id)
		}
		succeeds(t, p.With(bg, id, with(nothing)))
		if s := p.Stats(); s.Handles != 1 {
			t.Errorf("%d handles", s.Handles)
		}
		closes(t, p)
		shop.allBack()
	})
}

// Law: when open fails, nothing is left of the handle.
func TestFailedOpenLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		open func(context.Context) (*thing, error)
		want error
	}{
		"error": {func(context.Context) (*thing, error) { return nil, broken }, broken},
		"panic": {func(context.Context) (*thing, error) { panic(broken) }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
				for range 10 {
					id, err := p.Register(bg, test.open, pool.Label("open"))
					e := typed(t, err)
					if e.Outcome != ioerr.Failed || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || e.Label != "open" || !errors.Is(err, test.want) {
						t.Errorf("%#v", e)
					}
					if !id.IsZero() {
						t.Errorf("ID %v with an error", id)
					}
				}
				if s := p.Stats(); s.Handles != 0 || s.Retired != 0 || s.Lane.Running != 0 {
					t.Errorf("%+v", s)
				}
				closes(t, p)
			})
		})
	}
	t.Run("Goexit", func(t *testing.T) {
		everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
			p := on(g, pool.Config[int]{})
			exited := make(chan int)
			go func() {
				defer close(exited)
				_, err := p.Register(bg, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
				if _, carries := g.lane.(lane.Carrier); !carries || !errors.Is(err, ioerr.ErrGoexit) {
					t.Error("Goexit returned", err)
				}
			}()
			<-exited
			if s := p.Stats(); s.Handles != 0 || s.Retired != 0 || s.Lane.Running != 0 || s.Exited != 1 {
				t.Errorf("%+v", s)
			}
			closes(t, p)
		})
	})
}

// Law: a refused Register has opened nothing, and nothing is left of the handle.
func TestRefusedRegisterOpensNothing(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Queue: lane.NoQueue, Waiters: 10}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		dead, cancel := context.WithCancel(bg)
		cancel()
		full := fill(t, g, p)
		for _, test := range []struct {
			ctx  context.Context
			opts []pool.Option
			want error
		}{
			{dead, nil, context.Canceled},
			{bg, []pool.Option{pool.FailFast}, ioerr.ErrQueueFull},
			{bg, []pool.Option{pool.AcceptWithin(time.Second)}, ioerr.ErrAcceptTimeout},
		} {
			_, err := p.Register(test.ctx, shop.open, test.opts...)
			is(t, err, test.want)
			if e := typed(t, err); e.Effect != ioerr.None {
				t.Errorf("%#v", e)
			}
		}
		if s := p.Stats(); s.Handles != 0 || s.Retired != 0 {
			t.Errorf("%+v", s)
		}
		full.open()
		closes(t, p)
		_, err := p.Register(bg, shop.open)
		is(t, err, ioerr.ErrShutdown)
		if made, _ := shop.count(); made != 0 {
			t.Errorf("%d opened", made)
		}
	})
}

// Law: a context that ends while open runs does not lose what open returns.
func TestResourceOpenedAfterItsContextEndedIsNotLost(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		ctx, cancel := context.WithCancel(bg)
		id, err := p.Register(ctx, func(inner context.Context) (*thing, error) {
			cancel()
			<-inner.Done()
			return shop.make(), nil
		})
		succeeds(t, err)
		succeeds(t, p.With(bg, id, with(nothing)))
		closes(t, p)
		shop.allBack()
	})
}

// Law: a resource that is open only after the shutdown began is disposed of, once,
// and the shutdown waits for that.
func TestResourceOpenedDuringShutdownIsDisposedOf(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		opening := newGate()
		var id handle.ID
		reg := start(func() (err error) {
			id, err = p.Register(bg, func(ctx context.Context) (*thing, error) { return shop.make(), opening.pass(ctx) }, pool.Label("open"))
			return err
		})
		opening.await(t, 1)
		if s := p.Stats(); s.Handles != 1 {
			t.Errorf("%d handles, want the one being opened", s.Handles)
		}
		down := start(p.Close)
		waits(t, down)
		opening.open()
		err := ended(t, reg)
		e := typed(t, err)
		if e.Outcome != ioerr.ShutdownInProgress || e.Origin != ioerr.Executor || e.Effect != ioerr.Done || e.Label != "open" || e.Lane != laneName || !id.IsZero() {
			t.Errorf("%#v, id %v", e, id)
		}
		succeeds(t, ended(t, down))
		shop.allBack()
	})
}

// Law: an ID names nothing until its resource is there, not even if it was guessed;
// a guess that is destroyed is no resource lost.
func TestIDOfAResourceBeingOpenedNamesNothing(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 3}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		first := adopt(t, p, shop.make())
		succeeds(t, p.Destroy(bg, first))
		guess := p.IDFromUint64(first.Uint64() + 1) // the same place, the next generation
		opening := newGate()
		reg := start(func() error {
			_, err := p.Register(bg, func(ctx context.Context) (*thing, error) { return shop.make(), opening.pass(ctx) })
			return err
		})
		opening.await(t, 1)
		if p.Has(guess) {
			t.Error("the ID names what is not there yet")
		}
		is(t, p.With(bg, guess, leave, pool.FailFast), ioerr.ErrHandleBusy)
		gone := start(func() error { return p.Destroy(bg, guess) })
		waits(t, gone)
		opening.open()
		want{ioerr.Failed, ioerr.Handle, ioerr.Done, ioerr.ErrHandleNotFound, guess, "", laneName}.check(t, ended(t, reg))
		succeeds(t, ended(t, gone))
		shop.allBack()
		closes(t, p)
	})
}

// Law: what Adopt refuses stays the caller's.
func TestRefusedAdoptLeavesTheResourceToTheCaller(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		closes(t, p)
		r := shop.make()
		id, err := p.Adopt(r)
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		w.check(t, err)
		if !id.IsZero() || r.disposed.Load() != 0 {
			t.Errorf("id %v, disposed of %d times", id, r.disposed.Load())
		}
	})
}

// Law: of Adopt and Register against Shutdown, each either succeeds, and the
// resource is disposed of by the pool, or is refused.
func TestAdoptAndRegisterAgainstShutdown(t *testing.T) {
	for range rounds(200, 20_000) {
		for _, pl := range places {
			shop := newShop(t)
			p := on(pl.settle(t, lane.Config{Workers: 2}), pool.Config[*thing]{Dispose: shop.dispose})
			adopted, refused := make(chan int, 4), make(chan int, 4)
			for range 4 {
				go func() {
					r := shop.make()
					if _, err := p.Adopt(r); err != nil {
						is(t, err, ioerr.ErrShutdown)
						succeeds(t, shop.dispose(r))
						refused <- 1
					} else {
						adopted <- 1
					}
				}()
			}
			opened := make(chan error, 4)
			for range 4 {
				go func() {
					_, err := p.Register(bg, shop.open)
					opened <- err
				}()
			}
			runtime.Gosched()
			succeeds(t, p.Close())
			for range 4 {
				select {
				case <-adopted:
				case <-refused:
				}
				if err := <-opened; err != nil {
					is(t, err, ioerr.ErrShutdown)
				}
			}
			shop.allBack()
		}
	}
}

func TestNestedRegisterAndUse(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 3}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		succeeds(t, p.Do(bg, func(ctx context.Context) error {
			id, err := p.Register(ctx, shop.open)
			succeeds(t, err)
			succeeds(t, p.With(ctx, id, with(nothing)))
			return p.Destroy(ctx, id)
		}))
		synctest.Wait()
		shop.allBack()
		closes(t, p)
	})
}
