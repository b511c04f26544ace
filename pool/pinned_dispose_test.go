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

// Law: a hook that fails on a thread is reported as anywhere, and costs neither a slot
// nor a thread.
func TestHooksThatFailOnAPinnedLaneAreReported(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		hook    func() error
		want    error
		retired uint64
	}{
		"error":  {func() error { return broken }, broken, 0},
		"panic":  {func() error { panic(broken) }, broken, 0},
		"Goexit": {func() error { runtime.Goexit(); return nil }, ioerr.ErrGoexit, 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shop := newShop(t)
				shop.fails = func(*thing) error { return test.hook() }
				p := pinned(t, pool.Config[*thing]{Dispose: shop.dispose}, one)
				for range 20 {
					id := adopt(t, p, shop.make())
					err := p.Destroy(bg, id)
					w := leaf(test.want).onLane()
					w.id = id
					w.check(t, err)
					if hook, ok := errors.AsType[*ioerr.HookError](err); !ok || hook.Hook != "dispose" || hook.Handle != id {
						t.Errorf("%+v", hook)
					}
				}
				synctest.Wait()
				if s := p.Stats(); s.Lane.Running != 0 || s.Disposed != 20 || s.DisposeFailed != 20 || s.Lane.Threads != (lane.ThreadStats{Alive: 1, Retired: test.retired}) {
					t.Errorf("%+v", s)
				}
				report, ok := errors.AsType[*pool.Report](p.Close())
				if !ok || report.FailedTotal != 20 || len(report.Undisposed) != 0 || report.Others != 0 {
					t.Errorf("%+v", report)
				}
				shop.allBack()
			})
		})
	}
}

// Law: a hook past its time is reported and holds up no other disposal, but keeps its
// thread until it ends; a shutdown says so and can be finished then.
func TestAHookPastItsTimeKeepsItsThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		g := newGate()
		var bad *thing
		shop.fails = func(r *thing) error {
			if r == bad {
				g.stay()
			}
			return nil
		}
		p := pinned(t, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Second}, lane.PinnedConfig{Config: lane.Config{Workers: 2}})
		bad = shop.make()
		id := adopt(t, p, bad)
		began := time.Now()
		err := p.Destroy(bg, id)
		if d := time.Since(began); d != time.Second || !errors.Is(err, ioerr.ErrHookTimeout) {
			t.Errorf("after %v: %v", d, err)
		}
		if s := p.Stats(); s.Lane.Running != 1 || s.Retired != 0 || s.DisposeFailed != 1 {
			t.Errorf("%+v", s)
		}
		succeeds(t, p.Destroy(bg, adopt(t, p, shop.make())))
		require.NoError(t, second(pool.Offload(bg, p, func(context.Context) (int, error) { return 0, nil })))
		for range 3 {
			report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
			if !ok || report.Others != 1 || len(report.Undisposed) != 0 || report.FailedTotal != 1 {
				t.Errorf("%+v", report)
			}
		}
		g.open()
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || report.FailedTotal != 1 || report.Others != 0 || len(report.Running) != 0 {
			t.Errorf("%+v", report)
		}
		if s := p.Stats(); s.State != pool.Closed || s.Lane.Threads.Alive != 0 {
			t.Errorf("%+v", s)
		}
		shop.allBack()
	})
}

// Law: a disposal waits for its slot like a call, bounds or not, and from inside a call
// nobody waits for it.
func TestADisposalWaitsForAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		pc := one
		pc.Queue, pc.Waiters = lane.NoQueue, lane.NoWaiters
		p := pinned(t, pool.Config[*thing]{Dispose: shop.dispose}, pc)
		var ids []<-chan error
		g := newGate()
		call := start(func() error {
			return second(pool.Offload(bg, p, func(ctx context.Context) (int, error) {
				if err := p.Destroy(ctx, adopt(t, p, shop.make())); err != nil {
					t.Error(err)
				}
				return 0, g.pass(ctx)
			}))
		})
		waits(t, call)
		for range 20 {
			id := adopt(t, p, shop.make())
			ids = append(ids, start(func() error { return p.Destroy(bg, id) }))
		}
		for _, d := range ids {
			waits(t, d)
		}
		g.open()
		succeeds(t, ended(t, call))
		for _, d := range ids {
			succeeds(t, ended(t, d))
		}
		shop.allBack()
		closes(t, p)
	})
}

// Law: from inside a hook on a thread a shutdown would wait for itself, and is refused.
func TestShutdownFromAHookOnAThreadIsReentry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *pool.Pool[int]
		p = pinned(t, pool.Config[int]{Dispose: func(int) error {
			is(t, p.Close(), ioerr.ErrReentry)
			return nil
		}}, one)
		succeeds(t, p.Destroy(bg, adopt(t, p, 1)))
		_ = adopt(t, p, 2)
		closes(t, p)
	})
}

// A shared lane that its owner has closed disposes of nothing any more, and a pool says so.
func TestDisposalOnAClosedPinnedLaneIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Name: laneName, Workers: 1}})
		require.NoError(t, err)
		shop := newShop(t)
		p := makePool(t, pool.Config[*thing]{Lane: l, Dispose: shop.dispose})
		_ = adopt(t, p, shop.make())
		require.NoError(t, l.Shutdown(bg))
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || report.FailedTotal != 1 || !errors.Is(report.Failed[0], ioerr.ErrShutdown) {
			t.Errorf("%+v", report)
		}
		if _, disposed := shop.count(); disposed != 0 {
			t.Error("disposed of on a thread of somebody else's")
		}
	})
}

// Law: a Stop hook that fails holds up no shutdown; it is in the report, once, each time.
func TestAStopThatFailsIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pc := lane.PinnedConfig{Config: lane.Config{Workers: 3}, Stop: func(i int) {
			if i == 1 {
				panic("stop")
			}
		}}
		p := pinned(t, pool.Config[int]{}, pc)
		for range 3 {
			err := p.Close()
			report, ok := errors.AsType[*pool.Report](err)
			if !ok || len(report.Failed) != 1 || report.FailedTotal != 1 || typed(t, err).Effect != ioerr.Done {
				t.Errorf("%v", err)
			}
			if stop, ok := errors.AsType[*ioerr.StopError](err); !ok || stop.Thread != 1 {
				t.Errorf("%v", err)
			}
		}
		synctest.Wait()
		if s := p.Stats(); s.State != pool.Closed || s.Lane.Threads.Alive != 0 {
			t.Errorf("%+v", s)
		}
	})
}
