package pool_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: first the handle, then the lane. Whoever waits for a busy handle holds no
// slot and no place in the queue.
func TestWaitingForAHandleTakesNoPlaceInTheLane(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2, Queue: lane.NoQueue, Waiters: lane.NoWaiters}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		busy := newGate()
		holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
		busy.await(t, 1)
		var waiters []<-chan error
		for range 64 {
			waiters = append(waiters, start(func() error { return p.With(bg, id, leave) }))
		}
		synctest.Wait()
		if s := p.Stats().Lane; s.Running != 1 || s.Queued != 0 || s.Waiting != 0 {
			t.Errorf("%d running, %d queued, %d waiting for the lane, want only the holder", s.Running, s.Queued, s.Waiting)
		}
		succeeds(t, p.Do(bg, nothing))
		busy.open()
		succeeds(t, ended(t, holder))
		for _, c := range waiters {
			succeeds(t, ended(t, c))
		}
		closes(t, p)
	})
}

// slow is a lane whose Enter and Leave can be held up, as by a scheduler that has
// other things to do.
type slow struct {
	lane.Gated
	enter, leave func() // called before the true one; may be nil
}

func (s *slow) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	if s.enter != nil {
		s.enter()
	}
	return s.Gated.Enter(ctx, c)
}

// Try leaves all to Enter, which it may.
func (s *slow) Try() (lane.Slot, bool) { return lane.Slot{}, false }

func (s *slow) Leave(slot lane.Slot) {
	if s.leave != nil {
		s.leave()
	}
	s.Gated.Leave(slot)
}

// Law: the slot is given back before the lease, so that the next one in line for
// the handle never finds the lane full of the call that it waited for.
func TestNextInLineForAHandleFindsTheSlotOfTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewThreads(lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: lane.NoWaiters})
		require.NoError(t, err)
		leaving := newGate()
		p := makePool(t, pool.Config[int]{OwnsLane: true, Lane: &slow{Gated: l, leave: func() { leaving.stay() }}})
		id := adopt(t, p, 1)
		busy := newGate()
		holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
		busy.await(t, 1)
		next := start(func() error { return p.With(bg, id, leave) })
		waits(t, next)
		busy.open()
		waits(t, holder)
		waits(t, next)
		leaving.open()
		succeeds(t, ended(t, holder))
		succeeds(t, ended(t, next))
		closes(t, p)
	})
}

// Law: Shutdown does not return before every call has left the lane, also a
// shared one, also calls that hold a handle.
func TestShutdownReturnsAfterTheLastCallHasLeftTheLane(t *testing.T) {
	for _, owned := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l, err := lane.NewThreads(lane.Config{Workers: 4})
			require.NoError(t, err)
			leaving := newGate()
			p := makePool(t, pool.Config[int]{OwnsLane: owned, Lane: &slow{Gated: l, leave: func() { leaving.stay() }}})
			id := adopt(t, p, 1)
			call := start(func() error { return p.With(bg, id, leave) })
			leaving.await(t, 1)
			down := start(p.Close)
			waits(t, down)
			waits(t, call)
			leaving.open()
			succeeds(t, ended(t, call))
			succeeds(t, ended(t, down))
		})
	}
}

// Law: AcceptWithin bounds the wait for the handle and for the lane together.
func TestAcceptWithinBoundsBothWaitsTogether(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Queue: lane.NoQueue, Waiters: 100, Patience: lane.Strict}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("another shard may have a slot")
		}
		p := on(g, pool.Config[int]{})
		other := on(g, pool.Config[int]{})
		if !g.shared {
			other = p
		}
		id := adopt(t, p, 1)
		busy := newGate()
		holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
		busy.await(t, 1)
		waiter := start(func() error { return p.With(bg, id, leave, pool.AcceptWithin(10*time.Second)) })
		waits(t, waiter)
		// The lane is to be full when the handle comes free: others wait for it first.
		full := newGate()
		for range 2 * g.slots {
			spawn(t, func() error { return other.Do(bg, full.pass) })
		}
		time.Sleep(7 * time.Second)
		busy.open()
		succeeds(t, ended(t, holder))
		time.Sleep(3*time.Second - 1)
		waits(t, waiter)
		time.Sleep(time.Nanosecond)
		w := refusal(ioerr.Lane, ioerr.ErrAcceptTimeout)
		w.lane = laneName
		w.check(t, ended(t, waiter))
		full.open()
		synctest.Wait()
		if other != p {
			closes(t, other)
		}
		closes(t, p)
	})
}

// Law: on a sharded lane the transactions of a handle keep to one shard.
func TestTransactionsOfAHandleKeepToOneShard(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		l, err := lane.NewSharded(lane.ShardedConfig{Shards: 8, Isolated: isolated, Config: lane.Config{Workers: 1}})
		require.NoError(t, err)
		p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
		used := make(map[int]bool)
		for range 32 {
			id := adopt(t, p, 1)
			before := l.Stats().Shards
			for range 10 {
				succeeds(t, p.With(bg, id, leave))
			}
			shards := 0
			for i, s := range l.Stats().Shards {
				if s.Started != before[i].Started {
					shards++
					used[i] = true
				}
			}
			if shards != 1 {
				t.Errorf("isolated %v: transactions of one handle ran on %d shards", isolated, shards)
			}
		}
		if len(used) < 4 {
			t.Errorf("isolated %v: 32 handles used %d of 8 shards", isolated, len(used))
		}
		closes(t, p)
	}
}

// Law: the line before a handle is served in order.
func TestHandleIsServedInOrder(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Waiters: 1000, Patience: lane.Strict})
		id := adopt(t, p, 1)
		busy := newGate()
		spawn(t, func() error { return p.With(bg, id, hold[int](busy)) })
		busy.await(t, 1)
		var order []int
		var all []<-chan error
		for i := range 1000 {
			ctx, cancel := context.WithCancel(bg)
			c := start(func() error {
				return p.With(ctx, id, func(context.Context, int) error { order = append(order, i); return nil })
			})
			synctest.Wait()
			if i%7 == 0 {
				cancel()
				w := refusal(ioerr.Handle, context.Canceled)
				w.lane, w.id = laneName, id
				w.check(t, ended(t, c))
			} else {
				all = append(all, c)
				defer cancel()
			}
		}
		stop := make(chan handle.ID)
		for range 8 { // newcomers that hammer on the door
			go func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Microsecond):
						_ = p.With(bg, id, leave, pool.FailFast)
					}
				}
			}()
		}
		busy.open()
		for _, c := range all {
			succeeds(t, <-c)
		}
		close(stop)
		for i := 1; i < len(order); i++ {
			if order[i] <= order[i-1] {
				t.Fatalf("%d ran after %d", order[i], order[i-1])
			}
		}
		if want := 1000 - 143; len(order) != want {
			t.Errorf("%d ran, want %d", len(order), want)
		}
		closes(t, p)
	})
}
