package pool_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a hook that fails in whatever way costs nobody a slot, is called once, and
// is reported.
func TestFailingHooksAreReportedAndCostNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		hook func() error
		want error
	}{
		"error":        {func() error { return broken }, broken},
		"panic":        {func() error { panic(broken) }, broken},
		"nil panic":    {func() error { panic(nil) }, nil}, //nolint:govet // that is the point
		"Goexit":       {func() error { runtime.Goexit(); return nil }, ioerr.ErrGoexit},
		"FailNow":      {func() error { new(testing.T).FailNow(); return nil }, ioerr.ErrGoexit},
		"never at all": {func() error { time.Sleep(time.Hour); return nil }, ioerr.ErrHookTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				shop.fails = func(*thing) error { return test.hook() }
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Second})
				for range 20 {
					id := adopt(t, p, shop.make())
					err := p.Destroy(bg, id)
					w := leaf(test.want)
					if test.want == nil {
						w.err = err
					}
					w.id, w.lane = id, laneName
					w.check(t, err)
					if hook, ok := errors.AsType[*ioerr.HookError](err); !ok || hook.Hook != "dispose" || hook.Handle != id {
						t.Errorf("%+v", hook)
					}
				}
				var kept [5]any
				for i := range kept {
					id := adopt(t, p, shop.make())
					kept[i] = id
				}
				synctest.Wait()
				if s := p.Stats(); s.Lane.Running != 0 || s.Disposed != 20 || s.DisposeFailed != 20 {
					t.Errorf("%+v", s)
				}
				succeeds(t, p.Do(bg, nothing))
				err := p.Close()
				report, ok := errors.AsType[*pool.Report](err)
				_ = typed(t, err)
				if !ok || len(report.Failed) != 25 || report.FailedTotal != 25 || len(report.Undisposed) != 0 || len(report.Running) != 0 || report.Others != 0 {
					t.Errorf("report %+v", report)
				}
				if test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("the report does not match %v", test.want)
				}
				shop.allBack()
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// Law: a hook that hangs holds up nobody else's disposal, however few they are.
func TestHangingHookHoldsUpNoOtherDisposal(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		if g.name == "sharded isolated" {
			t.Skip("the two may belong to one shard; that a shard is held up is its purpose")
		}
		shop := newShop(t)
		stuck := newGate()
		hangs := shop.make()
		shop.fails = func(r *thing) error {
			if r == hangs {
				stuck.stay()
			}
			return nil
		}
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Hour})
		a := adopt(t, p, hangs)
		b := adopt(t, p, shop.make())
		first := start(func() error { return p.Destroy(bg, a) })
		stuck.await(t, 1)
		second := start(func() error { return p.Destroy(bg, b) })
		succeeds(t, ended(t, second))
		waits(t, first)
		stuck.open()
		succeeds(t, ended(t, first))
		closes(t, p)
		shop.allBack()
	})
}

// Law: a hook past its time gives up its slot, also the only one.
func TestHookPastItsTimeGivesUpItsSlot(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.name == "sharded isolated" {
			t.Skip("handles choose their shard, and so may choose the same")
		}
		shop := newShop(t)
		stuck := newGate()
		shop.fails = func(*thing) error { stuck.stay(); return nil }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Second})
		for range g.slots {
			id := adopt(t, p, shop.make())
			go func() { is(t, p.Destroy(bg, id), ioerr.ErrHookTimeout) }()
			synctest.Wait()
		}
		var calls []<-chan error
		for range g.slots {
			calls = append(calls, start(func() error { return p.Do(bg, nothing) }))
		}
		time.Sleep(time.Second)
		for _, c := range calls {
			succeeds(t, ended(t, c))
		}
		if s := p.Stats(); s.HooksHanging != g.slots || s.Retired != 0 {
			t.Errorf("%d hooks hang, %d retired; want %d and 0", s.HooksHanging, s.Retired, g.slots)
		}
		is(t, p.Close(), ioerr.ErrHookTimeout)
		stuck.open()
		synctest.Wait()
		if s := p.Stats(); s.HooksHanging != 0 {
			t.Errorf("%d hooks hang after all have ended", s.HooksHanging)
		}
	})
}

// Law: what is not waited for is bounded too: of the hooks that hang, only some
// lose their slot; the rest keep it until one of those has ended.
func TestHooksLeftHangingAreBounded(t *testing.T) {
	const may, more = 32, 8
	everywhere(t, need{}, lane.Config{Workers: 50}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		var called atomic.Int64
		release := make(chan struct{})
		shop.fails = func(*thing) error { called.Add(1); <-release; return nil }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Second})
		for range may + more + 10 {
			adopt(t, p, shop.make())
		}
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		err := p.Shutdown(ctx)
		is(t, err, context.DeadlineExceeded)
		report, _ := errors.AsType[*pool.Report](err)
		if s := p.Stats(); s.HooksHanging != may || int(called.Load()) != may+more || len(report.Undisposed) != more+10 || report.FailedTotal != may || s.Lane.Running != more {
			t.Errorf("%d hooks called, %d left hanging, %d undisposed, %d failed, %d slots taken", called.Load(), s.HooksHanging, len(report.Undisposed), report.FailedTotal, s.Lane.Running)
		}
		// As hooks come back, others are given up in their place.
		for range may {
			release <- struct{}{}
		}
		time.Sleep(10 * time.Second)
		if s := p.Stats(); int(called.Load()) != may+more+10 || s.Lane.Running != 0 {
			t.Errorf("later: %d hooks called, %d slots taken", called.Load(), s.Lane.Running)
		}
		close(release)
		is(t, p.Close(), ioerr.ErrHookTimeout)
		shop.allBack()
		time.Sleep(time.Hour)
	})
}

// Law: a hook that is given up on is in the report, also that of a resource that
// was replaced.
func TestNoFailureOfAHookIsMissingInTheReport(t *testing.T) {
	for range rounds(300, 20_000) {
		var release atomic.Bool
		p := makePool(t, pool.Config[int]{HookWithin: 10 * time.Microsecond, Dispose: func(int) error {
			for !release.Load() {
				runtime.Gosched()
			}
			return nil
		}})
		id := adopt(t, p, 1)
		is(t, p.Replace(bg, id, func(context.Context, int) (int, error) { return 2, nil }), ioerr.ErrHookTimeout)
		err := p.Close()
		if report, _ := errors.AsType[*pool.Report](err); report == nil || report.FailedTotal != 2 || len(report.Failed) != 2 {
			t.Fatalf("two hooks were given up on; the report is %v", report)
		}
		release.Store(true)
		for p.Stats().HooksHanging != 0 {
			runtime.Gosched()
		}
	}
}

// Law: hooks that end their goroutine do not end the disposal of the others.
func TestHooksThatEndTheirGoroutineDoNotStopTheWork(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		shop.fails = func(*thing) error { runtime.Goexit(); return nil }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		for range 1000 {
			adopt(t, p, shop.make())
		}
		err := p.Close()
		is(t, err, ioerr.ErrGoexit)
		report, _ := errors.AsType[*pool.Report](err)
		if report == nil || report.FailedTotal != 1000 || len(report.Failed) != 64 {
			t.Errorf("report %+v, want 1000 failures, 64 of them listed", report)
		}
		if !strings.Contains(err.Error(), "1000 failed") {
			t.Errorf("%v does not tell of 1000 failures", err)
		}
		shop.allBack()
	})
}

// Law: a hook that ends in the very moment when it is given up on counts once.
func TestHookThatEndsAtItsDeadlineCountsOnce(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		shop.fails = func(*thing) error { time.Sleep(time.Second); return nil }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Second})
		for range 100 {
			adopt(t, p, shop.make())
		}
		err := p.Close()
		_ = typed(t, err)
		synctest.Wait()
		s := p.Stats()
		if s.Disposed != 100 || s.HooksHanging != 0 || s.Lane.Running != 0 {
			t.Errorf("%+v", s)
		}
		if report, _ := errors.AsType[*pool.Report](err); report != nil && report.FailedTotal != s.DisposeFailed || report == nil && s.DisposeFailed != 0 {
			t.Errorf("report %v, but %d failed", report, s.DisposeFailed)
		}
		shop.allBack()
	})
}

// Law: disposal takes a slot like any call, so the bound of the lane holds.
func TestDisposalKeepsTheBoundOfTheLane(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		var running, most atomic.Int64
		shop.fails = func(*thing) error {
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return nil
		}
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		for range 30 {
			adopt(t, p, shop.make())
		}
		closes(t, p)
		if got := int(most.Load()); got > g.slots {
			t.Errorf("%d hooks at a time, want at most the %d slots", got, g.slots)
		}
		shop.allBack()
	})
}

// Law: Shutdown or Destroy from inside a hook, which would wait for the hook,
// does not.
func TestHookDoesNotWaitForItself(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		var p *pool.Pool[*thing]
		var down, gone error
		first := shop.make()
		shop.fails = func(r *thing) error {
			if r == first {
				down = p.Close()
				id := adopt(t, p, shop.make())
				gone = p.Destroy(bg, id)
			}
			return nil
		}
		p = on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, first)
		began := time.Now()
		succeeds(t, p.Destroy(bg, id))
		is(t, down, ioerr.ErrReentry)
		succeeds(t, gone)
		closes(t, p)
		if d := time.Since(began); d != 0 {
			t.Errorf("took %v", d)
		}
		shop.allBack()
	})
}
