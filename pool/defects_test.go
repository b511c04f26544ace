package pool_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Defects that libraries of this kind have had, and that must not be here. Others
// have their test where the law is that forbids them:
//
//   - a resource opened after its caller was cancelled, or during a shutdown, is
//     lost or ends the process: register_test.go
//   - a waiter that was cancelled sleeps on until the holder ends, or goes on taking
//     up room: transact_test.go
//   - the second of two shutdowns returns before the end, or a shared lane is shut
//     down: shutdown_test.go, shared_test.go
//   - a shutdown before the first call does nothing: shutdown_test.go
//   - a timeout becomes a cancellation, a full queue an overload: border_test.go
//   - an error says that nothing ran although it did: scoped_test.go, storm_test.go
//   - a panic costs a worker, a call waits for itself: unwind_test.go, reentry_test.go
//   - tests of contention on calls that never block: storm_test.go

// A cancelled caller takes its resource out from under the running call and hands
// it to the next.
func TestCancelledHolderKeepsItsResourceUntilItEnds(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		ctx, cancel := context.WithCancel(bg)
		b := newBarrier(s)
		holder := s.transact(ctx, id, func(context.Context) error { b.stay(); return nil })
		<-b.reached
		next := s.transact(bg, id, doze)
		cancel()
		nap(5 * time.Millisecond)
		if holder.out.Load() != int32(unknown) || next.out.Load() != int32(unknown) {
			s.Error("the holder was left while its call ran")
		}
		b.open()
		s.sum(ran)
	})
}

// Resources are never disposed of: at a shutdown, after a destroy, when they were
// destroyed while in use.
func TestEveryResourceIsDisposedOfExactlyOnceHoweverItGoes(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		busy := newGate()
		used, destroyed := adopt(t, p, shop.make()), adopt(t, p, shop.make())
		for _, id := range []handle.ID{used, destroyed} {
			spawn(t, func() error { return p.With(bg, id, with(busy.pass)) })
		}
		busy.await(t, 2)
		gone := start(func() error { return p.Destroy(bg, destroyed) })
		for range 10 {
			adopt(t, p, shop.make()) // idle at the shutdown
			id, err := p.Register(bg, shop.open)
			succeeds(t, err)
			succeeds(t, p.Destroy(bg, id))
		}
		succeeds(t, p.Replace(bg, adopt(t, p, shop.make()), func(context.Context, *thing) (*thing, error) { return shop.make(), nil }))
		opening := newGate()
		late := start(func() error {
			_, err := p.Register(bg, func(context.Context) (*thing, error) { opening.stay(); return shop.make(), nil })
			return err
		})
		opening.await(t, 1)
		down := start(p.Close)
		waits(t, down)
		busy.open()
		opening.open()
		is(t, ended(t, late), ioerr.ErrShutdown)
		succeeds(t, ended(t, gone))
		succeeds(t, ended(t, down))
		if made, disposed := shop.count(); made != 25 || disposed != 25 {
			t.Errorf("%d of %d disposed of, want 25 of 25", disposed, made)
		}
		if n := p.Stats().Disposed; n != 25 {
			t.Errorf("%d counted", n)
		}
	})
}

// A caller sits down to wait for a handle in the moment when it comes free, and
// nobody wakes it.
func TestNobodyIsForgottenBeforeAHandle(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		id := s.adopt()
		for range 4 {
			s.wg.Go(func() {
				for i := range rounds(3000, 300_000) {
					succeeds(s, s.p.With(bg, id, with(func(context.Context) error {
						if i%4 == 0 {
							runtime.Gosched()
						}
						return nil
					})))
				}
			})
		}
	})
}

// A handle that is destroyed between its grant and its next holder stays in the
// table for ever.
func TestHandleDestroyedBetweenTwoHoldersLeavesNothing(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{}, func(s *storm) {
		for range rounds(300, 30_000) {
			id := s.adopt()
			ctx, cancel := context.WithCancel(bg)
			s.transact(bg, id, nothing)
			s.transact(ctx, id, nothing)
			s.wg.Go(cancel)
			succeeds(s, s.p.Destroy(bg, id))
			s.sum(ran, refused, cancelled)
			if st := s.p.Stats(); st.Handles != 0 || st.Retired != 0 {
				s.Fatalf("%d handles, %d retired", st.Handles, st.Retired)
			}
		}
	})
}

// One worker takes several calls at a time and runs them one after another while
// others are idle, so that calls that wait for one another stand still.
func TestNoSlotIsIdleWhileACallWaits(t *testing.T) {
	storms(t, pool.Config[*thing]{}, lane.Config{Workers: 4}, func(s *storm) {
		if s.ground.name == "sharded isolated" {
			s.Skip("it keeps every call to its shard, and they are not always dealt out evenly")
		}
		slots := s.p.Stats().Lane.Workers
		for range rounds(100, 10_000) {
			var meet sync.WaitGroup
			meet.Add(slots)
			for range slots {
				s.run(bg, func(context.Context) error { meet.Done(); meet.Wait(); return nil })
			}
			s.sum(ran)
		}
	})
}

// A shard that is blocked refuses calls while its neighbours are idle.
func TestBlockedShardRefusesNobodyWhileItsNeighboursAreIdle(t *testing.T) {
	l, err := lane.NewSharded(lane.ShardedConfig{Shards: 4, Config: lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: lane.NoWaiters}})
	require.NoError(t, err)
	p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
	b := newBarrier(t)
	for range 3 {
		spawn(t, func() error { return p.Do(bg, func(context.Context) error { b.stay(); return nil }) })
	}
	for range 3 {
		<-b.reached
	}
	for range 100 {
		succeeds(t, p.Do(bg, nothing))
		succeeds(t, p.Do(bg, nothing, pool.FailFast))
		succeeds(t, p.With(bg, adopt(t, p, 1), leave))
	}
	b.open()
	closes(t, p)
}

// A call runs although its context had ended before it was handed in, or a call
// that was told "cancelled" runs after all.
func TestCancelledCallNeverRuns(t *testing.T) {
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1, Queue: 4}})
	id := adopt(t, p, 1)
	var done atomic.Bool
	rival := start(func() error {
		for !done.Load() {
			if err := p.With(bg, id, func(context.Context, int) error { runtime.Gosched(); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	for range rounds(3000, 300_000) {
		ctx, cancel := context.WithCancel(bg)
		var times atomic.Int32
		before := rand.IntN(2) == 0
		if before {
			cancel()
		} else {
			go cancel()
		}
		err := p.With(ctx, id, func(context.Context, int) error { times.Add(1); return nil })
		if o := outcomeOf(t, times.Load(), err); o != ran && o != cancelled || before && o != cancelled {
			t.Errorf("outcome %v: %v", o, err)
		}
		cancel()
	}
	done.Store(true)
	succeeds(t, <-rival)
	closes(t, p)
}

// A thread, a timer or a goroutine stands by although there is nothing to do.
func TestIdlePoolHasNoGoroutine(t *testing.T) {
	base := runtime.NumGoroutine()
	for _, pl := range places {
		g := pl.settle(t, lane.Config{Workers: 4})
		if pl.driven {
			base = runtime.NumGoroutine() // the lane has a driver, the pool has none
		}
		p := on(g, pool.Config[int]{Dispose: func(int) error { return nil }})
		id := adopt(t, p, 1)
		succeeds(t, p.With(bg, id, leave))
		succeeds(t, p.Destroy(bg, id))
		adopt(t, p, 1)
		settles(t, base)
		defer closes(t, p)
	}
}

// Pools are told apart by a number that begins at zero, so that an ID of nothing
// is an ID of the first.
func TestScopeIsNeverZeroNorTheSame(t *testing.T) {
	seen := make(map[uint64]bool)
	for range 1000 {
		p := makePool(t, pool.Config[int]{})
		id := adopt(t, p, 1)
		if id.Scope() == 0 || seen[id.Scope()] || id.IsZero() || id.Uint64() == 0 {
			t.Fatalf("%v", id)
		}
		seen[id.Scope()] = true
		closes(t, p)
	}
}

// The first call of a pool is never woken, when all the machinery has just been
// made.
func TestFirstCallOfAFreshPoolRuns(t *testing.T) {
	for range 500 {
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1, Queue: 1}})
		calls := []<-chan error{
			start(func() error { return p.Do(bg, doze) }),
			start(func() error { return p.Do(bg, doze) }),
			start(func() error { return p.Do(bg, doze) }),
		}
		for _, c := range calls {
			select {
			case err := <-c:
				succeeds(t, err)
			case <-time.After(time.Minute):
				t.Fatal("hangs")
			}
		}
		closes(t, p)
	}
}

// A caller that waits for acceptance is woken twice, by a free place and by the
// shutdown, or by none of them.
func TestShutdownAgainstAcceptance(t *testing.T) {
	for range rounds(300, 30_000) {
		for _, pl := range places[:3] {
			s := &storm{T: t, shop: newShop(t)}
			s.p = on(pl.settle(t, lane.Config{Workers: 1, Queue: 1, Waiters: 8}), pool.Config[*thing]{})
			for range 6 {
				s.run(bg, func(context.Context) error { runtime.Gosched(); return nil })
			}
			succeeds(t, s.p.Close())
			s.sum(ran, shutdown, refused)
		}
	}
}

// Shutting down is told as "no such handle".
func TestShutdownIsNeverToldAsAMissingHandle(t *testing.T) {
	for range rounds(200, 20_000) {
		for _, pl := range places[:3] {
			shop := newShop(t)
			p := on(pl.settle(t, lane.Config{Workers: 2}), pool.Config[*thing]{Dispose: shop.dispose})
			id := adopt(t, p, shop.make())
			var calls []<-chan error
			for range 4 {
				calls = append(calls, start(func() error { return p.With(bg, id, with(nothing)) }))
			}
			succeeds(t, p.Close())
			for _, c := range calls {
				if err := <-c; err != nil {
					is(t, err, ioerr.ErrShutdown)
				}
			}
			shop.allBack()
		}
	}
}

// A pool that nobody shuts down keeps the process, or the test, from ending.
func TestForgottenPoolHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which would not end with a goroutine left
		p := makePool(t, pool.Config[int]{Dispose: func(int) error { return nil }})
		adopt(t, p, 1)
		succeeds(t, p.Do(bg, nothing))
	})
}
