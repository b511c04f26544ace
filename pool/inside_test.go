package pool_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a pool of pools is closed like any resource: the hook that closes the inner
// one waits for its calls.
func TestPoolMayOwnPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer := makePool(t, pool.Config[*pool.Pool[int]]{Dispose: func(p *pool.Pool[int]) error { return p.Close() }})
		inner := makePool(t, pool.Config[int]{})
		id := adopt(t, outer, inner)
		busy := newGate()
		call := start(func() error { return inner.Do(bg, busy.pass) })
		busy.await(t, 1)
		gone := start(func() error { return outer.Destroy(bg, id) })
		waits(t, gone)
		busy.open()
		succeeds(t, ended(t, call))
		succeeds(t, ended(t, gone))
		closes(t, inner)
		closes(t, outer)
	})
}

// Law: a pool that is idle can be closed from inside a call of another one, also
// if both share a lane.
func TestCloseOfAnIdlePoolInsideACallOfAnother(t *testing.T) {
	l, err := lane.NewThreads(lane.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a := makePool(t, pool.Config[int]{Lane: l})
	b := makePool(t, pool.Config[int]{Lane: l})
	succeeds(t, a.Do(bg, func(context.Context) error { return b.Close() }))
	closes(t, a)
	succeeds(t, l.Shutdown(bg))
}

// Law: the context of a call that has ended is of no call any more.
func TestContextKeptAfterItsCallIsOfNoCall(t *testing.T) {
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: lane.NoWaiters}})
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	kept, err := pool.Run(ctx, p, func(ctx context.Context) (context.Context, error) { return context.WithoutCancel(ctx), nil })
	succeeds(t, err)
	busy := newGate()
	call := start(func() error { return p.Do(bg, busy.pass) })
	busy.await(t, 1)
	is(t, p.Do(kept, nothing), ioerr.ErrOverloaded)
	busy.open()
	succeeds(t, <-call)
	succeeds(t, p.Shutdown(kept))
}

// Law: Replace does not outrun the disposal of what it replaces.
func TestReplaceWaitsForTheDisposalOfTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newGate()
		p := makePool(t, pool.Config[int]{Dispose: func(n int) error {
			if n == 1 {
				return slow.pass(bg)
			}
			return nil
		}})
		id := adopt(t, p, 1)
		replacing := start(func() error {
			return p.Replace(bg, id, func(context.Context, int) (int, error) { return 2, nil })
		})
		waits(t, replacing)
		slow.open()
		succeeds(t, ended(t, replacing))
		closes(t, p)
	})
}

// Law: a lane that no constructor made is refused by a typed error, and a pool on
// it can be closed.
func TestLaneThatNoConstructorMade(t *testing.T) {
	for name, l := range map[string]lane.Lane{"threads": new(lane.Threads), "sharded": new(lane.Sharded), "inline": new(lane.Inline)} {
		t.Run(name, func(t *testing.T) {
			p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
			id := adopt(t, p, 1)
			is(t, p.Do(bg, nothing), ioerr.ErrInvalid)
			is(t, p.With(bg, id, leave[int]), ioerr.ErrInvalid)
			closes(t, p)
		})
	}
}
