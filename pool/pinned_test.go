package pool_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// pinned makes a pool that owns a Pinned lane.
func pinned[R any](t testing.TB, c pool.Config[R], pc lane.PinnedConfig) *pool.Pool[R] {
	t.Helper()
	pc.Name = laneName
	l, err := lane.NewPinned(pc)
	require.NoError(t, err)
	c.Lane, c.OwnsLane = l, true
	return makePool(t, c)
}

// one is a lane of one thread.
var one = lane.PinnedConfig{Config: lane.Config{Workers: 1}}

// Law: calls that can be carried run on a thread of the lane and know it; results, errors
// and panics are those of Run, and runtime.Goexit is an error, too.
func TestCallsOnAPinnedLaneRunOnItsThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pinned(t, pool.Config[int]{}, one)
		on := func(ctx context.Context) {
			t.Helper()
			if th, ok := lane.ThreadOf(ctx); !ok || th.Index() != 0 {
				t.Errorf("%v, %v", th, ok)
			}
		}
		id, err := p.Register(bg, func(ctx context.Context) (int, error) { on(ctx); return 41, nil })
		require.NoError(t, err)
		require.NoError(t, p.Replace(bg, id, func(ctx context.Context, old int) (int, error) { on(ctx); return old, nil }))
		v, err := pool.OffloadOn(bg, p, id, func(ctx context.Context, r int) (int, error) { on(ctx); return r + 1, nil })
		require.NoError(t, err)
		require.Equal(t, 42, v)
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(bg, key{}, "value"))
		v, err = pool.Offload(ctx, p, func(ctx context.Context) (int, error) {
			on(ctx)
			if ctx.Value(key{}) != "value" || ctx.Err() != nil {
				t.Error("it is not the caller's context")
			}
			if cancel(); ctx.Err() == nil {
				t.Error("it does not end with the caller's")
			}
			return 42, nil // what has happened counts
		})
		require.NoError(t, err)
		require.Equal(t, 42, v)

		broken := errors.New("broken")
		leaf(broken).onLane().check(t, second(pool.Offload(bg, p, func(context.Context) (int, error) { return 0, broken })))
		err = second(pool.Offload(bg, p, func(context.Context) (int, error) { panic(broken) }))
		leaf(broken).onLane().check(t, err)
		if e, ok := errors.AsType[*ioerr.PanicError](err); !ok || !strings.Contains(string(e.Stack), "TestCallsOnAPinnedLane") {
			t.Errorf("%v", err)
		}
		leaf(ioerr.ErrGoexit).onLane().check(t, second(pool.Offload(bg, p, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })))
		v, err = pool.Offload(bg, p, func(ctx context.Context) (int, error) { on(ctx); return 43, nil })
		require.NoError(t, err)
		require.Equal(t, 43, v)
		synctest.Wait()
		if s := p.Stats(); s.Failed != 3 || s.Panicked != 1 || s.Exited != 1 || s.Lane.Threads != (lane.ThreadStats{Alive: 1, Retired: 1}) || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		if _, ok := lane.ThreadOf(bg); ok {
			t.Error("a thread out of nothing")
		}
		closes(t, p)
	})
}

// onLane is the error by a lane with the name that all have here.
func (w want) onLane() want {
	w.lane = laneName
	return w
}

// Law: if a thread cannot be put back as it was, the caller of the call learns it beside
// what the call says, and its result.
func TestAFailedRestoreIsInTheErrorOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pinned(t, pool.Config[int]{}, one)
		broken, bad := errors.New("broken"), errors.New("bad")
		for _, own := range []error{nil, broken} {
			v, err := pool.Offload(bg, p, func(ctx context.Context) (int, error) {
				th, _ := lane.ThreadOf(ctx)
				th.Restore(func() error { return bad })
				return 7, own
			}, pool.Label("as somebody"))
			w := leaf(bad).onLane()
			w.label = "as somebody"
			w.check(t, err)
			if e, ok := errors.AsType[*ioerr.RestoreError](err); !ok || !errors.Is(err, own) && own != nil || v != 7 {
				t.Errorf("%d, %v, %v", v, err, e)
			}
		}
		synctest.Wait()
		if s := p.Stats(); s.Lane.Threads.Retired != 2 || s.Failed != 2 || s.Ran != 2 {
			t.Errorf("%+v", s)
		}
		closes(t, p)
	})
}

// Law: what would run on its caller's thread is refused, with a type, and never runs; the
// resource is as it was.
func TestCallsThatAPinnedLaneCannotRunAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		p := pinned(t, pool.Config[*thing]{Dispose: shop.dispose}, one)
		id := adopt(t, p, shop.make())
		ran := func() { t.Error("ran") }
		calls := map[string]func() error{
			"Run": func() error {
				return second(pool.Run(bg, p, func(context.Context) (int, error) { ran(); return 0, nil }))
			},
			"Do": func() error { return p.Do(bg, func(context.Context) error { ran(); return nil }, pool.Urgent) },
			"Transact": func() error {
				return second(pool.Transact(bg, p, id, func(context.Context, *thing) (int, error) { ran(); return 0, nil }))
			},
			"With": func() error { return p.With(bg, id, func(context.Context, *thing) error { ran(); return nil }) },
			"Scoped": func() error {
				return second(pool.Scoped(bg, p, func(context.Context) (int, error) { ran(); return 0, nil },
					func(context.Context, int) (int, error) { ran(); return 0, nil }, nil))
			},
		}
		for name, call := range calls {
			err := call()
			e := typed(t, err)
			if e == nil || e.Outcome != ioerr.Failed || e.Origin != ioerr.Lane || e.Effect != ioerr.None || !errors.Is(err, ioerr.ErrUnsupported) {
				t.Errorf("%s: %+v", name, e)
			}
			if u, ok := errors.AsType[*ioerr.UnsupportedError](err); !ok || u.What != "lane.Pinned.Enter" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s := p.Stats(); s.Failed != uint64(len(calls)) || s.Ran != 0 || s.Lane.Started != 0 {
			t.Errorf("%+v", s)
		}
		require.NoError(t, second(pool.OffloadOn(bg, p, id, func(context.Context, *thing) (int, error) { return 0, nil })))
		closes(t, p)
		shop.allBack()
		for name, call := range calls {
			if err := call(); !errors.Is(err, ioerr.ErrShutdown) {
				t.Errorf("%s of a closed pool: %v", name, err)
			}
		}
	})
}

// Law: a nested call on a full lane is refused at once, also over another pool; with a
// thread to spare it runs.
func TestANestedCallOnAFullPinnedLaneIsReentryAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Name: laneName, Workers: 2}})
		require.NoError(t, err)
		a, b := makePool(t, pool.Config[int]{Lane: l}), makePool(t, pool.Config[int]{Lane: l})
		id := adopt(t, a, 1)
		began := time.Now()
		require.NoError(t, second(pool.OffloadOn(bg, a, id, func(ctx context.Context, _ int) (int, error) {
			is(t, second(pool.OffloadOn(ctx, a, id, func(context.Context, int) (int, error) { t.Error("ran"); return 0, nil })), ioerr.ErrReentry)
			is(t, a.Shutdown(ctx), ioerr.ErrReentry)
			return 0, second(pool.Offload(ctx, b, func(ctx context.Context) (int, error) {
				for _, p := range []*pool.Pool[int]{a, b} {
					refusal(ioerr.Lane, ioerr.ErrReentry).onLane().check(t, second(pool.Offload(ctx, p, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })))
				}
				return 0, nil
			}))
		})))
		if d := time.Since(began); d != 0 {
			t.Errorf("it took %v", d)
		}
		closes(t, a)
		closes(t, b)
		require.NoError(t, l.Shutdown(bg))
	})
}

// Law: without a thread a call is refused with the reason; it has not run, and the handle
// is free.
func TestACallForWhichNoThreadStartsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, fails := errors.New("broken"), false
		shop := newShop(t)
		pc := one
		pc.Start = func(int) error {
			if fails {
				return broken
			}
			return nil
		}
		p := pinned(t, pool.Config[*thing]{Dispose: shop.dispose}, pc)
		id, lost := adopt(t, p, shop.make()), adopt(t, p, shop.make())
		taint := func(ctx context.Context, _ *thing) (int, error) {
			th, _ := lane.ThreadOf(ctx)
			th.Taint()
			return 0, nil
		}
		fails = true
		require.NoError(t, second(pool.OffloadOn(bg, p, id, taint)))
		err := second(pool.OffloadOn(bg, p, id, taint))
		e := typed(t, err)
		if start, ok := errors.AsType[*ioerr.StartError](err); !ok || start.Lane != laneName || !errors.Is(err, broken) || e.Effect != ioerr.None || e.Origin != ioerr.Lane {
			t.Errorf("%+v", e)
		}
		// What is bound to a thread is not disposed of on another.
		err = p.Destroy(bg, lost)
		if hook, ok := errors.AsType[*ioerr.HookError](err); !ok || hook.Hook != "dispose" || hook.Handle != lost || !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		if _, disposed := shop.count(); disposed != 0 {
			t.Error("disposed of on a thread of somebody else's")
		}
		fails = false
		require.NoError(t, second(pool.OffloadOn(bg, p, id, taint)))
		succeeds(t, p.Destroy(bg, id))
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || len(report.Failed) != 1 || report.FailedTotal != 1 || len(report.Undisposed) != 0 {
			t.Errorf("%+v", report)
		}
	})
}

// Law: a shutdown runs what runs to its end, then disposes of everything on the threads,
// and only then ends these.
func TestShutdownDisposesBeforeTheThreadsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, s)
		}
		pc := one
		pc.Stop = func(int) { note("stop") }
		p := pinned(t, pool.Config[string]{Dispose: func(s string) error { note("dispose " + s); return nil }}, pc)
		_ = adopt(t, p, "idle")
		used := adopt(t, p, "used")
		g := newGate()
		call := start(func() error {
			return second(pool.OffloadOn(bg, p, used, func(ctx context.Context, _ string) (int, error) {
				err := g.pass(ctx)
				note("call")
				return 0, err
			}, pool.Label("long")))
		})
		waits(t, call)
		report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || len(report.Running) != 1 || report.Running[0].Label != "long" || len(report.Undisposed) != 2 || report.Others != 0 {
			t.Errorf("%+v", report)
		}
		is(t, second(pool.Offload(bg, p, func(context.Context) (int, error) { return 0, nil })), ioerr.ErrShutdown)
		g.open()
		closes(t, p)
		succeeds(t, ended(t, call))
		require.Equal(t, []string{"call", "dispose idle", "dispose used", "stop"}, log)
	})
}
