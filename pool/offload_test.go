package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: where nobody leaves, Offload is Run: results, errors, panics, options, handles.
func TestOffloadIsRunWhereNobodyLeaves(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 41)
		v, err := pool.Offload(bg, p, func(context.Context) (int, error) { return 42, nil })
		require.NoError(t, err)
		require.Equal(t, 42, v)
		v, err = pool.OffloadOn(bg, p, id, func(_ context.Context, r int) (int, error) { return r + 1, nil }, pool.Label("l"), pool.Key("k"))
		require.NoError(t, err)
		require.Equal(t, 42, v)
		broken := errors.New("broken")
		v, err = pool.OffloadOn(bg, p, id, func(context.Context, int) (int, error) { return 7, broken }, pool.Label("l"))
		e := typed(t, err)
		if v != 7 || !errors.Is(err, broken) || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || e.Label != "l" || e.Handle.String() != id.String() {
			t.Errorf("%d, %#v", v, e)
		}
		_, err = pool.Offload(bg, p, func(context.Context) (int, error) { panic(broken) })
		if pe, ok := errors.AsType[*ioerr.PanicError](err); !ok || pe.Value != broken {
			t.Errorf("%v", err)
		}
		for _, call := range []func() error{
			func() error { return second(pool.Offload[int](bg, p, nil)) },
			func() error { return second(pool.OffloadOn[int](bg, p, id, nil)) },
		} {
			require.ErrorIs(t, call(), ioerr.ErrInvalid)
		}
		dead, cancel := context.WithCancel(bg)
		cancel()
		require.ErrorIs(t, second(pool.Offload(dead, p, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })), context.Canceled)
		if s := p.Stats(); s.Failed != 4 || s.Ran != 2 || s.Panicked != 1 || s.Cancelled != 1 || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
	})
}

// leaving makes a pool on a lane whose callers leave a second after their context.
func leaving[R any](t testing.TB, c pool.Config[R], a lane.AbandoningConfig) *pool.Pool[R] {
	t.Helper()
	a.Grace = time.Second
	l, err := lane.NewAbandoning(a)
	require.NoError(t, err)
	c.Lane, c.OwnsLane = l, true
	return makePool(t, c)
}

// within is a context that ends after d.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(bg, d)
	t.Cleanup(cancel)
	return ctx
}

// isLeft checks the error of a call that was left.
func isLeft(t testing.TB, err error, label string) {
	t.Helper()
	e := typed(t, err)
	left, ok := errors.AsType[*ioerr.LeftError](err)
	if !ok || e.Outcome != ioerr.TimedOut || e.Effect != ioerr.Unknown || e.Origin != ioerr.Lane || e.Label != label || left.Age <= 0 ||
		!errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ioerr.ErrLeft) {
		t.Errorf("%#v, %v", e, err)
	}
}

// Law: a call that outlives its context is left with a typed error; a result that
// nobody receives is undone exactly once, also when a shutdown came in between; a
// failure is not.
func TestLateSuccessIsUndoneOnce(t *testing.T) {
	for name, test := range map[string]struct {
		fail     error
		panics   bool
		shutdown bool
		undone   int
	}{
		"success":              {undone: 1},
		"success, in shutdown": {undone: 1, shutdown: true},
		"failure":              {fail: errors.New("no")},
		"panic":                {panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
				g := newGate()
				var undone []string
				v, err := pool.Offload(within(t, time.Second), p, func(ctx context.Context) (string, error) {
					_ = g.pass(ctx)
					if ctx.Err() == nil {
						t.Error("its context has not ended")
					}
					if test.panics {
						panic("late")
					}
					return "file", test.fail
				}, pool.Label("open"), pool.Undo(func(s string) error { undone = append(undone, s); return nil }))
				isLeft(t, err, "open")
				require.Empty(t, v)
				if s := p.Stats(); len(s.Lane.Left) != 1 || s.Lane.Left[0].Label != "open" || s.TimedOut != 1 || s.Lane.Running != 0 {
					t.Errorf("%+v", s)
				}
				if test.shutdown {
					report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
					if !ok || len(report.Running) != 1 || report.Running[0].Label != "open" || report.Others != 0 {
						t.Errorf("%+v", report)
					}
				}
				g.open()
				closes(t, p)
				if len(undone) != test.undone {
					t.Errorf("undone: %q", undone)
				}
				if s := p.Stats(); len(s.Lane.Left) != 0 || s.Panicked != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// What goes wrong with Undo is in the report; an Undo for another type is refused.
func TestUndoIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
		err := second(pool.Offload(bg, p, func(context.Context) (int, error) { t.Error("ran"); return 0, nil }, pool.Undo(func(string) error { return nil })))
		if arg, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || arg.Name != "pool.Undo" {
			t.Errorf("%v", err)
		}
		for _, undo := range []func(int) error{
			func(int) error { return errors.New("stuck") },
			func(int) error { panic("stuck") },
			func(int) error { runtime.Goexit(); return nil },
		} {
			g := newGate()
			require.ErrorIs(t, second(pool.Offload(within(t, time.Second), p, func(ctx context.Context) (int, error) {
				return 1, g.pass(ctx)
			}, pool.Undo(undo))), ioerr.ErrLeft)
			g.open()
			synctest.Wait()
		}
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || len(report.Failed) != 3 || report.Failed[0].Hook != "undo" {
			t.Errorf("%+v", report)
		}
	})
}

// Law: a handle whose call was left refuses everybody at once, waiting or new, with the
// call's label and age; other handles work; it works again when the call has ended.
func TestAHandleInTheHandsOfALeftCallIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 4}})
		dead, healthy := adopt(t, p, 1), adopt(t, p, 2)
		g := newGate()
		hold := start(func() error {
			return second(pool.OffloadOn(within(t, time.Second), p, dead, func(ctx context.Context, r int) (int, error) {
				return r, g.pass(ctx)
			}, pool.Label("read")))
		})
		synctest.Wait()
		waits(t, hold)
		waiter := start(func() error { return p.With(bg, dead, leave) })
		waits(t, waiter)
		time.Sleep(2 * time.Second)
		isLeft(t, ended(t, hold), "read")
		refused := func(err error, age time.Duration) {
			t.Helper()
			stuck, ok := errors.AsType[*ioerr.StuckError](err)
			if !ok || !errors.Is(err, ioerr.ErrHandleBusy) || stuck.Label != "read" || stuck.Age != age || typed(t, err).Effect != ioerr.None {
				t.Errorf("%v", err)
			}
		}
		refused(ended(t, waiter), 2*time.Second)
		time.Sleep(time.Minute)
		refused(p.With(bg, dead, leave), time.Minute+2*time.Second)
		refused(p.With(bg, dead, leave, pool.FailFast), time.Minute+2*time.Second)
		refused(second(pool.OffloadOn(bg, p, dead, func(context.Context, int) (int, error) { return 0, nil })), time.Minute+2*time.Second)
		succeeds(t, p.With(bg, healthy, leave))
		g.open()
		synctest.Wait()
		succeeds(t, p.With(bg, dead, leave))
		closes(t, p)
	})
}

func leaveThing(context.Context, *thing) error { return nil }

// Law: a stuck resource can be taken out of use at once. Nothing is disposed of under
// the call that uses it, and everything once.
func TestAStuckHandleCanBeDestroyedAndReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		p := leaving(t, pool.Config[*thing]{Dispose: shop.dispose}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
		open := func(context.Context) (*thing, error) { return shop.make(), nil }
		id, err := p.Register(bg, open)
		require.NoError(t, err)
		g := newGate()
		isLeft(t, second(pool.OffloadOn(within(t, time.Second), p, id, func(ctx context.Context, _ *thing) (int, error) {
			return 0, g.pass(ctx)
		})), "")
		succeeds(t, p.Detach(id))
		succeeds(t, p.Detach(id))
		require.ErrorIs(t, p.With(bg, id, leaveThing), ioerr.ErrHandleNotFound)
		again, err := p.Register(bg, open)
		require.NoError(t, err)
		succeeds(t, p.With(bg, again, leaveThing))
		if s := p.Stats(); s.Disposed != 0 || s.Retired != 1 {
			t.Errorf("%+v", s)
		}
		g.open()
		synctest.Wait()
		if s := p.Stats(); s.Disposed != 1 || s.Retired != 0 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
	})
}

// Law: a resource that an open returns whose caller has left is disposed of once.
func TestALateOpenedResourceIsDisposedOf(t *testing.T) {
	for _, shutdown := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			shop := newShop(t)
			p := leaving(t, pool.Config[*thing]{Dispose: shop.dispose}, lane.AbandoningConfig{})
			g := newGate()
			id, err := p.Register(within(t, time.Second), func(ctx context.Context) (*thing, error) {
				_ = g.pass(ctx)
				return shop.make(), nil
			}, pool.Label("mount"))
			isLeft(t, err, "mount")
			if !id.IsZero() {
				t.Error(id)
			}
			if shutdown {
				require.Error(t, p.Shutdown(within(t, time.Second)))
			}
			g.open()
			synctest.Wait()
			closes(t, p)
			if s := p.Stats(); s.Disposed != 1 || s.Handles != 0 || s.Retired != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Law: with a call that never returns a shutdown ends in time and says what runs, again
// and again, and finishes when the call does.
func TestShutdownWithACallThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
		id := adopt(t, p, 1)
		g := newGate()
		require.ErrorIs(t, second(pool.OffloadOn(within(t, time.Second), p, id, func(ctx context.Context, _ int) (int, error) {
			return 0, g.pass(ctx)
		}, pool.Label("never"))), ioerr.ErrLeft)
		for range 1000 {
			began := time.Now()
			err := p.Shutdown(within(t, time.Second))
			report, ok := errors.AsType[*pool.Report](err)
			if d := time.Since(began); d != time.Second || !ok || len(report.Running) != 1 || report.Running[0].Label != "never" || len(report.Undisposed) != 1 {
				t.Fatalf("after %v: %v, %+v", d, err, report)
			}
		}
		g.open()
		closes(t, p)
	})
}
