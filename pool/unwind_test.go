package pool_test

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a panic reaches its caller as a typed error with value and stack, and costs
// nothing: neither the slot, nor the resource, nor the next call a moment.
func TestPanicIsTheCallersErrorAndCostsNothing(t *testing.T) {
	everywhere(t, need{}, lane.Config{Queue: lane.NoQueue, Waiters: lane.NoWaiters}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		for i := range 1000 {
			var err error
			if i%2 == 0 {
				err = p.Do(bg, func(context.Context) error { goesWrong(i); return nil }, pool.Label("wrong"))
			} else {
				err = p.With(bg, id, with(func(context.Context) error { goesWrong(i); return nil }), pool.Label("wrong"))
			}
			e := typed(t, err)
			if e == nil || e.Outcome != ioerr.Failed || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || e.Label != "wrong" {
				t.Fatalf("%#v", e)
			}
			if (e.Handle == id) != (i%2 == 1) {
				t.Errorf("handle %v", e.Handle)
			}
			thrown, ok := errors.AsType[*ioerr.PanicError](err)
			if !ok || thrown.Value != i || !strings.Contains(string(thrown.Stack), "goesWrong") {
				t.Fatalf("%#v", thrown)
			}
		}
		succeeds(t, p.Do(bg, nothing, pool.FailFast))
		succeeds(t, p.With(bg, id, with(nothing), pool.FailFast))
		if s := p.Stats(); s.Panicked != 1000 || s.Failed != s.Panicked || s.Ran != s.Panicked || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
		shop.allBack()
	})
}

func goesWrong(v any) { panic(v) }

func TestPanicWithAnErrorMatchesIt(t *testing.T) {
	p := makePool(t, pool.Config[int]{})
	is(t, p.Do(bg, func(context.Context) error { panic(fs.ErrPermission) }), fs.ErrPermission)
	var null any
	err := p.Do(bg, func(context.Context) error { panic(null) })
	if _, ok := errors.AsType[*runtime.PanicNilError](err); !ok {
		t.Errorf("panic(nil) gave %v", err)
	}
	var array [3]int
	err = p.Do(bg, func(context.Context) error { array[len(err.Error())]++; return nil })
	if _, ok := errors.AsType[runtime.Error](err); !ok {
		t.Errorf("a run-time panic gave %v", err)
	}
	// A panic that the call itself recovers is none.
	succeeds(t, p.Do(bg, func(context.Context) (err error) { defer func() { _ = recover() }(); panic(1) }))
	// Goexit in a deferred function ends a panic.
	exits(t, func() {
		_ = p.Do(bg, func(context.Context) error { defer runtime.Goexit(); panic(1) })
	})
	closes(t, p)
}

// exits runs fn on a goroutine and checks that fn ends it.
func exits(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan bool)
	go func() {
		exited := true
		defer func() { done <- exited }()
		fn()
		exited = false
	}()
	if !<-done {
		t.Error("the goroutine went on")
	}
}

// Law: a call that ends its goroutine gives back everything: slot, handle, its
// place in every count; Shutdown does not wait for it.
func TestGoexitGivesEverythingBack(t *testing.T) {
	ends := map[string]func(){
		"Goexit":  runtime.Goexit,
		"FailNow": func() { new(testing.T).FailNow() },
		"SkipNow": func() { new(testing.T).SkipNow() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{Queue: lane.NoQueue, Waiters: lane.NoWaiters}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
				id := adopt(t, p, shop.make())
				end := func(context.Context) error { end(); return nil }
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				for range 20 {
					exits(t, func() { _ = p.Do(bg, end) })
					exits(t, func() { _ = p.Do(ctx, end, pool.Label("exits")) })
					exits(t, func() { _ = p.With(bg, id, with(end)) })
					exits(t, func() {
						_, _ = pool.Scoped(bg, p, shop.open, func(ctx context.Context, r *thing) (int, error) { return 0, with(end)(ctx, r) }, shop.dispose)
					})
				}
				succeeds(t, p.With(bg, id, with(nothing), pool.FailFast))
				if s := p.Stats(); s.Exited != 80 || s.Lane.Running != 0 || len(s.Running) != 0 {
					t.Errorf("%+v", s)
				}
				closes(t, p)
				shop.allBack()
			})
		})
	}
}

// Law: when a holder fails in whatever way, the next in line gets the handle.
func TestNextInLineGetsTheHandleOfOneThatFailed(t *testing.T) {
	broken := errors.New("broken")
	for name, end := range map[string]func() error{
		"error":  func() error { return broken },
		"panic":  func() error { panic(broken) },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
				id := adopt(t, p, shop.make())
				busy := newGate()
				go func() { _ = p.With(bg, id, with(func(context.Context) error { busy.stay(); return end() })) }()
				busy.await(t, 1)
				var next []<-chan error
				for range 5 {
					next = append(next, start(func() error { return p.With(bg, id, with(nothing)) }))
				}
				synctest.Wait()
				busy.open()
				for _, c := range next {
					succeeds(t, ended(t, c))
				}
				closes(t, p)
				shop.allBack()
			})
		})
	}
}

// Law: Shutdown returns although a call ends its goroutine while it waits.
func TestShutdownIsNotHeldUpByGoexit(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		busy := newGate()
		go func() { _ = p.Do(bg, func(context.Context) error { busy.stay(); runtime.Goexit(); return nil }) }()
		go func() {
			_ = p.With(bg, id, with(func(context.Context) error { busy.stay(); runtime.Goexit(); return nil }))
		}()
		busy.await(t, 2)
		down := start(p.Close)
		waits(t, down)
		busy.open()
		succeeds(t, ended(t, down))
		shop.allBack()
	})
}
