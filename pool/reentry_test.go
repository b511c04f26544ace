package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a nested call never waits for the lane that its caller is in.
func TestNestedCallOnAFullLaneIsReentryAtOnce(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		full := fillBut(t, g, p, 1)
		err := p.Do(bg, func(ctx context.Context) error {
			for name, nested := range map[string]func() error{
				"Do": func() error { return p.Do(ctx, nothing) },
				"Run": func() error {
					_, err := pool.Run(ctx, p, func(context.Context) (int, error) { return 1, nil })
					return err
				},
				"Register": func() error {
					_, err := p.Register(ctx, func(context.Context) (int, error) { return 1, nil })
					return err
				},
				"derived": func() error {
					ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour)
					defer cancel()
					return p.Do(context.WithValue(ctx, new(int), 1), nothing)
				},
			} {
				w := refusal(ioerr.Lane, ioerr.ErrReentry)
				w.lane = laneName
				if name == "Register" {
					is(t, nested(), ioerr.ErrReentry)
					continue
				}
				w.check(t, nested())
			}
			return nil
		})
		succeeds(t, err)
		full.open()
		closes(t, p)
	})
}

func TestNestedCallTakesAFreeSlot(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 3}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		depth := 0
		var deeper func(context.Context) error
		deeper = func(ctx context.Context) error {
			if depth++; depth == 3 {
				return nil
			}
			return p.Do(ctx, deeper)
		}
		succeeds(t, p.Do(bg, deeper))
		if depth != 3 {
			t.Errorf("depth %d, want 3", depth)
		}
		closes(t, p)
	})
}

// Law: a transaction nested in one on the same handle is refused, however many
// slots are free and whatever lies between.
func TestNestedTransactionOnTheSameHandleIsReentryAtOnce(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		other := makePool(t, pool.Config[int]{})
		id := adopt(t, p, 1)
		nested := func(ctx context.Context) error { return p.With(ctx, id, leave) }
		w := refusal(ioerr.Handle, ioerr.ErrReentry)
		w.lane = laneName
		err := p.With(bg, id, func(ctx context.Context, _ int) error {
			w.check(t, nested(ctx))
			w.check(t, p.Replace(ctx, id, func(context.Context, int) (int, error) { return 2, nil }))
			succeeds(t, p.Do(ctx, func(ctx context.Context) error { w.check(t, nested(ctx)); return nil }))
			succeeds(t, other.Do(ctx, func(ctx context.Context) error { w.check(t, nested(ctx)); return nil }))
			return nil
		})
		succeeds(t, err)
		succeeds(t, nested(bg))
		closes(t, other)
		closes(t, p)
	})
}

// The zero ID names nothing, also inside a call that holds no handle, whose own
// ID is zero too.
func TestZeroIDInANestedCallIsNotFound(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		err := p.Do(bg, func(ctx context.Context) error {
			is(t, p.With(ctx, handle.ID{}, leave), ioerr.ErrHandleNotFound)
			return nil
		})
		succeeds(t, err)
		closes(t, p)
	})
}

func TestNestedTransactionsOnTwoHandlesWork(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		a := adopt(t, p, shop.make())
		b := adopt(t, p, shop.make())
		both := func(outer, inner handle.ID) error {
			return p.With(bg, outer, with(func(ctx context.Context) error {
				return p.With(ctx, inner, with(nothing))
			}))
		}
		succeeds(t, both(a, b))
		succeeds(t, both(b, a))
		closes(t, p)
		shop.allBack()
	})
}

// Law: a call that holds a slot never waits for a handle of the same lane: the
// holder of the handle may be the one that waits for the slot.
func TestNestedTransactionNeverWaitsForAHandleWhoseHolderWaitsForTheLane(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		full := fillBut(t, g, p, 1)
		in, goOn := make(chan int), make(chan int)
		first := start(func() error {
			return p.Do(bg, func(ctx context.Context) error {
				close(in)
				<-goOn
				return p.With(ctx, id, leave)
			})
		})
		<-in
		second := start(func() error { return p.With(bg, id, leave) }) // has the handle, waits for the lane
		waits(t, second)
		close(goOn)
		is(t, ended(t, first), ioerr.ErrReentry)
		full.open() // isolated shards: it may have been one of these that the second waited for
		succeeds(t, ended(t, second))
		closes(t, p)
	})
}

// Law: two transactions that want each other's handle do not wait for each other.
func TestTransactionsThatWantEachOthersHandleDoNotHang(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		a := adopt(t, p, 1)
		b := adopt(t, p, 2)
		both := make(chan int, 2)
		cross := func(outer, inner handle.ID) <-chan error {
			return start(func() error {
				return p.With(bg, outer, func(ctx context.Context, _ int) error {
					both <- 1
					for len(both) < 2 {
						time.Sleep(time.Millisecond) // the bubble's time: until the other is in, too
					}
					err := p.With(ctx, inner, leave)
					is(t, err, ioerr.ErrReentry)
					time.Sleep(time.Second)
					return err
				})
			})
		}
		first, second := cross(a, b), cross(b, a)
		time.Sleep(time.Minute)
		is(t, ended(t, first), ioerr.ErrReentry)
		is(t, ended(t, second), ioerr.ErrReentry)
		closes(t, p)
	})
}

func TestNestedUseOfAnotherLaneWaitsAsAlways(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		other := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}})
		busy := newGate()
		spawn(t, func() error { return other.Do(bg, busy.pass) })
		busy.await(t, 1)
		c := start(func() error {
			return p.Do(bg, func(ctx context.Context) error { return other.Do(ctx, nothing) })
		})
		waits(t, c)
		busy.open()
		succeeds(t, ended(t, c))
		closes(t, other)
		closes(t, p)
	})
}

// A to B and back to A, the only slot of which is taken by the first call.
func TestAToBToA(t *testing.T) {
	chain := func(t *testing.T, g *ground, inner func(ctx context.Context) context.Context) error {
		a := on(g, pool.Config[int]{})
		b := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}})
		full := fillBut(t, g, a, 1)
		var err error
		succeeds(t, a.Do(bg, func(ctx context.Context) error {
			return b.Do(ctx, func(ctx context.Context) error {
				err = a.Do(inner(ctx), nothing)
				return nil
			})
		}))
		full.open()
		closes(t, b)
		closes(t, a)
		return err
	}
	t.Run("with its context is refused at once", func(t *testing.T) {
		everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
			began := time.Now()
			is(t, chain(t, g, func(ctx context.Context) context.Context { return ctx }), ioerr.ErrReentry)
			if d := time.Since(began); d != 0 {
				t.Errorf("took %v, want no time", d)
			}
		})
	})
	t.Run("without it is freed at its deadline", func(t *testing.T) {
		everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
			began := time.Now()
			err := chain(t, g, func(context.Context) context.Context {
				ctx, cancel := context.WithTimeout(bg, time.Second)
				t.Cleanup(cancel)
				return ctx
			})
			w := refusal(ioerr.Lane, context.DeadlineExceeded)
			w.lane = laneName
			w.check(t, err)
			if d := time.Since(began); d != time.Second {
				t.Errorf("took %v, want the second that was allowed", d)
			}
		})
	})
}

// Law: two pools on one lane are one lane to a nested call.
func TestNestedCallThroughAnotherPoolOnTheSameLaneIsReentry(t *testing.T) {
	everywhere(t, need{bounded: true, shared: true}, lane.Config{}, func(t *testing.T, g *ground) {
		a, b := on(g, pool.Config[int]{}), on(g, pool.Config[string]{})
		full := fillBut(t, g, a, 1)
		succeeds(t, a.Do(bg, func(ctx context.Context) error {
			is(t, b.Do(ctx, nothing), ioerr.ErrReentry)
			return nil
		}))
		full.open()
		closes(t, a)
		closes(t, b)
		succeeds(t, g.lane.Shutdown(bg))
	})
}
