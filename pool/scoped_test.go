package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

var (
	errOpen    = errors.New("open")
	errUse     = errors.New("use")
	errDispose = errors.New("dispose")
)

// Law: open, use and dispose are one call; dispose runs exactly if open succeeded;
// the errors of use and of dispose are both kept.
func TestScopedKeepsAllErrors(t *testing.T) {
	for name, test := range map[string]struct {
		open, use, dispose func() error
		want               []error
		not                []error
		value              int
	}{
		"all well":         {nil, nil, nil, nil, nil, 42},
		"open fails":       {func() error { return errOpen }, nil, nil, []error{errOpen}, []error{errUse, errDispose}, 0},
		"open panics":      {func() error { panic(errOpen) }, nil, nil, []error{errOpen}, []error{errUse, errDispose}, 0},
		"use fails":        {nil, func() error { return errUse }, nil, []error{errUse}, []error{errOpen, errDispose}, 42},
		"use panics":       {nil, func() error { panic(errUse) }, nil, []error{errUse}, []error{errOpen, errDispose}, 0},
		"dispose fails":    {nil, nil, func() error { return errDispose }, []error{errDispose}, []error{errOpen, errUse}, 42},
		"dispose panics":   {nil, nil, func() error { panic(errDispose) }, []error{errDispose}, []error{errOpen, errUse}, 42},
		"both fail":        {nil, func() error { return errUse }, func() error { return errDispose }, []error{errUse, errDispose}, []error{errOpen}, 42},
		"both panic":       {nil, func() error { panic(errUse) }, func() error { panic(errDispose) }, []error{errUse, errDispose}, []error{errOpen}, 0},
		"use ends, panics": {nil, func() error { return errUse }, func() error { panic(errDispose) }, []error{errUse, errDispose}, nil, 42},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[string]{})
				call := func(fn func() error) error {
					if s := p.Stats().Lane; s.Running != 1 {
						t.Errorf("%d slots taken, want one", s.Running)
					}
					if fn == nil {
						return nil
					}
					return fn()
				}
				v, err := pool.Scoped(bg, p,
					func(context.Context) (*thing, error) {
						if err := call(test.open); err != nil {
							return nil, err
						}
						return shop.make(), nil
					},
					func(_ context.Context, r *thing) (int, error) {
						r.use()
						defer r.done()
						return 42, call(test.use)
					},
					func(r *thing) error { return errors.Join(shop.dispose(r), call(test.dispose)) },
					pool.Label("scoped"))
				if v != test.value {
					t.Errorf("value %d, want %d", v, test.value)
				}
				for _, e := range test.want {
					w := leaf(e)
					w.label, w.lane = "scoped", laneName
					w.check(t, err)
				}
				for _, e := range test.not {
					if errors.Is(err, e) {
						t.Errorf("%v matches %v", err, e)
					}
				}
				if test.want == nil {
					succeeds(t, err)
				}
				if test.dispose != nil {
					if hook, ok := errors.AsType[*ioerr.HookError](err); !ok || hook.Hook != "dispose" || hook.Handle != nil {
						t.Errorf("%v holds no HookError", err)
					}
				}
				shop.allBack()
				if s := p.Stats(); s.Lane.Started != 1 || s.Lane.Running != 0 {
					t.Errorf("%+v", s)
				}
				closes(t, p)
			})
		})
	}
}

// Law: a Scoped that was refused has opened nothing.
func TestRefusedScopedOpensNothing(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[int]{})
		full := fill(t, g, p)
		scoped := func(ctx context.Context) error {
			_, err := pool.Scoped(ctx, p, shop.open, func(context.Context, *thing) (int, error) { return 0, nil }, shop.dispose)
			return err
		}
		ctx, cancel := context.WithCancel(bg)
		waiting := start(func() error { return scoped(ctx) })
		waits(t, waiting)
		cancel()
		w := refusal(ioerr.Lane, context.Canceled)
		w.lane = laneName
		w.check(t, ended(t, waiting))
		full.open()
		synctest.Wait()
		closes(t, p)
		is(t, scoped(bg), ioerr.ErrShutdown)
		if made, _ := shop.count(); made != 0 {
			t.Errorf("%d opened", made)
		}
	})
}

// Law: once open has succeeded dispose runs, also if the context ends or the
// goroutine does.
func TestScopedAlwaysDisposes(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[int]{})
		ctx, cancel := context.WithCancel(bg)
		_, err := pool.Scoped(ctx, p, shop.open, func(ctx context.Context, _ *thing) (int, error) { cancel(); return 0, ctx.Err() }, shop.dispose)
		is(t, err, context.Canceled)
		if e := typed(t, err); e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || e.Outcome != ioerr.Failed {
			t.Errorf("%#v", e)
		}
		exits(t, func() {
			_, _ = pool.Scoped(bg, p, shop.open, func(context.Context, *thing) (int, error) { runtime.Goexit(); return 0, nil }, shop.dispose)
		})
		exits(t, func() {
			_, _ = pool.Scoped(bg, p, shop.open, func(context.Context, *thing) (int, error) { return 0, nil },
				func(r *thing) error { _ = shop.dispose(r); runtime.Goexit(); return nil })
		})
		_, err = pool.Scoped(bg, p, shop.open, func(_ context.Context, r *thing) (int, error) { return 0, shop.dispose(r) }, nil)
		succeeds(t, err) // no hook: the user's own business
		shop.allBack()
		closes(t, p)
	})
}
