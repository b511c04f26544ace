package pool_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// More faults that people have met with calls that never return; docs/faults.md names
// the reports.

// Resources die one after another until there is nobody left to serve the others, and
// for ever.
func TestDeadResourcesBeyondTheBudgetAreToldAndEachThatRecoversHelps(t *testing.T) {
	const workers, budget = 2, 3
	for name, order := range map[string][]int{"the oldest first": {0, 1, 2, 3, 4}, "the latest first": {4, 3, 2, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, l := abandons(t, pool.Config[*gate]{}, lane.AbandoningConfig{Config: lane.Config{Workers: workers}, Left: budget})
				healthy := adopt[*gate](t, p, nil)
				var dead []*gate
				var ids []handle.ID
				for i := range workers + budget {
					succeeds(t, ask(t, p, healthy, time.Second))
					dead = append(dead, newGate())
					ids = append(ids, adopt(t, p, dead[i]))
					isLeft(t, ask(t, p, ids[i], time.Second), "")
				}
				began := time.Now()
				w := refusal(ioerr.Lane, ioerr.ErrSaturated)
				w.id, w.lane = healthy, laneName
				for range 100 {
					w.check(t, ask(t, p, healthy, time.Second))
				}
				another := adopt(t, p, newGate())
				is(t, ask(t, p, another, time.Second), ioerr.ErrSaturated)
				is(t, ask(t, p, ids[0], time.Second), ioerr.ErrHandleBusy)
				if d := time.Since(began); d != 0 {
					t.Errorf("the refusals took %v", d)
				}
				for i, k := range order {
					dead[k].open()
					synctest.Wait()
					if n := len(l.Stats().Left); n != workers+budget-1-i {
						t.Errorf("%d are left after %d have ended", n, i+1)
					}
					if err := ask(t, p, healthy, time.Second); err != nil {
						t.Errorf("with %d of %d dead: %v", workers+budget-1-i, workers+budget, err)
					}
					succeeds(t, ask(t, p, ids[k], time.Second))
				}
				closes(t, p)
			})
		})
	}
}

// A call that hangs holds a lock that everybody needs who only wants to look.
func TestALeftCallHoldsUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l := abandons(t, pool.Config[*gate]{Dispose: func(*gate) error { return nil }}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
		dead := newGate()
		id := adopt(t, p, dead)
		isLeft(t, ask(t, p, id, time.Second, pool.Label("stuck")), "stuck")
		open := func(context.Context) (*gate, error) { return nil, nil }
		began := time.Now()
		for range 10 {
			s := p.Stats()
			if len(s.Running) != 1 || s.Running[0].Label != "stuck" || s.Running[0].Handle != id || len(s.Lane.Left) != 1 || s.Lane.Left[0].Handle != id.Uint64() {
				t.Errorf("%+v", s)
			}
			is(t, ask(t, p, id, time.Second), ioerr.ErrHandleBusy)
			other, err := p.Register(bg, open)
			succeeds(t, err)
			succeeds(t, ask(t, p, other, time.Second))
			succeeds(t, p.With(bg, other, leave))
			succeeds(t, p.Replace(bg, other, func(context.Context, *gate) (*gate, error) { return nil, nil }))
			succeeds(t, p.Destroy(bg, other))
			succeeds(t, p.Detach(adopt[*gate](t, p, nil)))
			succeeds(t, p.Do(bg, nothing))
			succeeds(t, second(pool.Offload(bg, p, func(context.Context) (int, error) { return 0, nil })))
			if err := errors.Join(l.Resize(5), l.Resize(1), l.Resize(2), l.SetKeyLimit("k", 3)); err != nil {
				t.Error(err)
			}
			beside := makePool(t, pool.Config[int]{Lane: l})
			succeeds(t, beside.Do(bg, nothing))
			closes(t, beside)
			if p.Has(other) || !p.Has(id) {
				t.Error("the wrong one is gone")
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("took %v, want no time", d)
		}
		dead.open()
		closes(t, p)
	})
}

// A helper of a test ends the goroutine of a call, and whoever waits for the call, for its
// handle or for the pool waits for good.
func TestGoexitInACallThatMayBeLeftIsItsCallersError(t *testing.T) {
	for name, end := range map[string]func(){
		"Goexit":  runtime.Goexit,
		"FailNow": func() { new(testing.T).FailNow() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shop := newShop(t)
				p, l := abandons(t, pool.Config[*thing]{Dispose: shop.dispose}, lane.AbandoningConfig{Config: lane.Config{Workers: 1}})
				id := adopt(t, p, shop.make())
				undo := pool.Undo(func(int) error { t.Error("there is nothing to undo"); return nil })
				goes := func(context.Context) (int, error) { end(); return 1, nil }
				goesOn := func(ctx context.Context, r *thing) (int, error) { r.use(); defer r.done(); return goes(ctx) }
				for range 20 {
					w := leaf(ioerr.ErrGoexit)
					w.lane = laneName
					w.check(t, second(pool.Offload(bg, p, goes, undo)))
					is(t, second(p.Register(bg, func(ctx context.Context) (*thing, error) { _, err := goes(ctx); return nil, err })), ioerr.ErrGoexit)
					w.id = id
					w.check(t, second(pool.OffloadOn(bg, p, id, goesOn, undo)))
				}
				if s := p.Stats(); s.Exited != 60 || s.Handles != 1 || s.Lane.Running != 0 {
					t.Errorf("%+v", s)
				}
				// So does a call that its caller has left.
				g := newGate()
				isLeft(t, second(pool.OffloadOn(within(t, time.Second), p, id, func(ctx context.Context, r *thing) (int, error) {
					g.stay()
					return goesOn(ctx, r)
				}, undo)), "")
				down := start(p.Close)
				waits(t, down)
				g.open()
				succeeds(t, ended(t, down))
				if s := l.Stats(); len(s.Left) != 0 || s.Started != s.Completed {
					t.Errorf("%+v", s)
				}
				shop.allBack()
			})
		})
	}
}

// One operation for each volume, and one that never ends keeps it "in progress" for ever.
func TestAStuckVolumeIsDetachedAndServedUnderANewID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop(t)
		p, _ := abandons(t, pool.Config[*thing]{Dispose: shop.dispose}, lane.AbandoningConfig{Config: lane.Config{Workers: 2}})
		old, err := p.Register(bg, shop.open)
		require.NoError(t, err)
		g := newGate()
		var events []string
		shop.fails = func(*thing) error { events = append(events, "disposed"); return nil }
		isLeft(t, second(pool.OffloadOn(within(t, time.Second), p, old, func(_ context.Context, r *thing) (string, error) {
			r.use()
			defer r.done()
			g.stay()
			return "mounted", nil
		}, pool.Label("mount"), pool.Undo(func(s string) error { events = append(events, "undone: "+s); return nil }))), "mount")
		time.Sleep(time.Hour)
		stuck, ok := errors.AsType[*ioerr.StuckError](p.With(bg, old, leaveThing))
		if !ok || !errors.Is(stuck, ioerr.ErrHandleBusy) || stuck.Label != "mount" || stuck.Age != time.Hour+time.Second {
			t.Errorf("%+v", stuck)
		}
		succeeds(t, p.Detach(old))
		gone := func() {
			t.Helper()
			if err := p.With(bg, old, leaveThing); p.Has(old) || !errors.Is(err, ioerr.ErrHandleNotFound) {
				t.Errorf("%v", err)
			}
		}
		gone()
		fresh, err := p.Register(bg, shop.open)
		require.NoError(t, err)
		if fresh == old || fresh.Uint64() == old.Uint64() {
			t.Errorf("the ID %v is used again", old)
		}
		succeeds(t, p.With(bg, fresh, with(nothing)))
		if len(events) != 0 {
			t.Errorf("%q while the call runs", events)
		}
		g.open()
		synctest.Wait()
		if want := []string{"undone: mounted", "disposed"}; !slices.Equal(events, want) {
			t.Errorf("got %q, want %q", events, want)
		}
		gone()
		succeeds(t, p.With(bg, fresh, with(nothing)))
		closes(t, p)
		shop.allBack()
	})
}
