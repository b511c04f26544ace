package pool_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a pool that shuts down takes its own callers out of a shared lane's waiting
// room, and nobody else's; its accepted calls run; the lane stays up.
func TestShutdownOnASharedLaneHarmsNobodyElse(t *testing.T) {
	everywhere(t, need{bounded: true, gated: true, shared: true}, lane.Config{Queue: 4, Waiters: 20}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("each shard has a queue")
		}
		shopA, shopB := newShop(t), newShop(t)
		a := on(g, pool.Config[*thing]{Dispose: shopA.dispose})
		b := on(g, pool.Config[*thing]{Dispose: shopB.dispose})
		idA := adopt(t, a, shopA.make())
		idB := adopt(t, b, shopB.make())
		full := fill(t, g, b)
		var queued, hisQueued, waiting, hisWaiting []<-chan error
		for range 2 {
			queued = append(queued, start(func() error { return a.Do(bg, nothing) }))
			hisQueued = append(hisQueued, start(func() error { return b.Do(bg, nothing) }))
		}
		synctest.Wait()
		for range 5 {
			waiting = append(waiting, start(func() error { return a.Do(bg, nothing) }))
			hisWaiting = append(hisWaiting, start(func() error { return b.Do(bg, nothing) }))
		}
		waiting = append(waiting, start(func() error { return a.With(bg, idA, leave) }))
		hisWaiting = append(hisWaiting, start(func() error { return b.With(bg, idB, leave) }))
		synctest.Wait()
		down := start(a.Close)
		for _, c := range waiting {
			is(t, ended(t, c), ioerr.ErrShutdown)
		}
		for _, list := range [][]<-chan error{queued, hisQueued, hisWaiting} {
			for _, c := range list {
				waits(t, c)
			}
		}
		waits(t, down)
		full.open()
		for _, list := range [][]<-chan error{queued, hisQueued, hisWaiting} {
			for _, c := range list {
				succeeds(t, ended(t, c))
			}
		}
		succeeds(t, ended(t, down))
		succeeds(t, b.With(bg, idB, with(nothing)))
		succeeds(t, b.Do(bg, nothing))
		shopA.allBack()
		closes(t, b)
		shopB.allBack()
		succeeds(t, g.lane.Shutdown(bg))
	})
}

// Law: a caller on its way into a shared lane when the shutdown begins is refused
// too, and does not wait there for what other pools hold.
func TestCallerOnItsWayIntoASharedLaneAtShutdown(t *testing.T) {
	for name, call := range map[string]func(p *pool.Pool[int]) error{
		"call":        func(p *pool.Pool[int]) error { return p.Do(bg, nothing) },
		"transaction": func(p *pool.Pool[int]) error { return p.With(bg, adopt(t, p, 1), leave) },
		"register": func(p *pool.Pool[int]) error {
			_, err := p.Register(bg, func(context.Context) (int, error) { return 1, nil })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := lane.NewThreads(lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: 10})
				require.NoError(t, err)
				slot, err := l.Enter(bg, lane.Call{}) // somebody else's
				require.NoError(t, err)
				coming := newGate()
				p := makePool(t, pool.Config[int]{Lane: &slow{Gated: l, enter: func() { coming.stay() }}})
				c := start(func() error { return call(p) })
				coming.await(t, 1)
				down := start(p.Close)
				waits(t, down)
				coming.open()
				time.Sleep(time.Second)
				is(t, ended(t, c), ioerr.ErrShutdown)
				succeeds(t, ended(t, down))
				l.Leave(slot)
			})
		})
	}
}

// Law: with a lane that cannot evict, a caller that waits in it learns of the
// shutdown when the lane lets it in, and does not run.
func TestCallerInALaneThatCannotEvict(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.gated {
			t.Skip("it can")
		}
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		full := fill(t, g, p)
		ran := func(context.Context) error { t.Error("ran"); return nil }
		calls := []<-chan error{
			start(func() error { return p.Do(bg, ran) }),
			start(func() error { return p.With(bg, id, func(ctx context.Context, _ int) error { return ran(ctx) }) }),
			start(func() error {
				_, err := p.Register(bg, func(ctx context.Context) (int, error) { return 1, ran(ctx) })
				return err
			}),
		}
		for _, c := range calls {
			waits(t, c)
		}
		down := start(p.Close)
		waits(t, down)
		full.open()
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		for _, c := range calls {
			w.check(t, ended(t, c))
		}
		succeeds(t, ended(t, down))
	})
}

// Law: a shared lane that its owner closes underneath a pool refuses the pool's
// calls, loses no resource, and does not keep the pool from shutting down.
func TestLaneClosedUnderneath(t *testing.T) {
	everywhere(t, need{shared: true}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		idle := adopt(t, p, shop.make())
		used := adopt(t, p, shop.make())
		adopt(t, p, shop.make())
		busy := newGate()
		holder := start(func() error { return p.With(bg, used, with(busy.pass)) })
		busy.await(t, 1)
		down := start(func() error { return g.lane.Shutdown(bg) })
		synctest.Wait()
		w := refusal(ioerr.Lane, ioerr.ErrShutdown) // the pool itself is open
		w.lane = laneName
		w.check(t, p.Do(bg, nothing))
		w.check(t, p.With(bg, idle, leave))
		w.check(t, second(p.Register(bg, shop.open)))
		id, err := p.Adopt(shop.make())
		succeeds(t, err)
		busy.open()
		synctest.Wait()
		if err := <-down; err != nil {
			t.Errorf("the lane says %v", err)
		}
		succeeds(t, ended(t, holder))
		w.check(t, p.With(bg, used, leave))
		succeeds(t, p.Destroy(bg, id))
		closes(t, p)
		shop.allBack()
	})
}

// Law: pools come and go on one lane, and leave nothing in it.
func TestPoolsComeAndGoOnASharedLane(t *testing.T) {
	everywhere(t, need{shared: true}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		for range 50 {
			p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
			id, err := p.Register(bg, shop.open)
			succeeds(t, err)
			call := start(func() error { return p.With(bg, id, with(nothing)) })
			closes(t, p)
			if err := ended(t, call); err != nil {
				is(t, err, ioerr.ErrShutdown)
			}
		}
		if s := g.lane.Stats(); s.Running != 0 || s.Queued != 0 || s.Waiting != 0 || s.Started != s.Completed {
			t.Errorf("%+v", s)
		}
		shop.allBack()
		if err := g.lane.Shutdown(bg); err != nil {
			t.Error(err)
		}
	})
}

// wraps is a lane that says more than it has to.
type wraps struct{ lane.Lane }

func (l wraps) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	slot, err := l.Lane.Enter(ctx, c)
	if err != nil {
		err = fmt.Errorf("my lane: %w", err)
	}
	return slot, err
}

// Law: what a lane says is understood also when it is wrapped.
func TestLaneThatWrapsItsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMinimal(laneName, 1)
		p := makePool(t, pool.Config[int]{Lane: wraps{l}})
		busy := newGate()
		call := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		for _, test := range []struct {
			err     error
			outcome ioerr.Outcome
			want    error
		}{
			{p.Do(bg, nothing, pool.FailFast), ioerr.Failed, ioerr.ErrQueueFull},
			{p.Do(bg, nothing, pool.AcceptWithin(time.Millisecond)), ioerr.TimedOut, ioerr.ErrAcceptTimeout},
			{p.Do(ctx, nothing), ioerr.TimedOut, context.DeadlineExceeded},
		} {
			want{test.outcome, ioerr.Lane, ioerr.None, test.want, noID, "", laneName}.check(t, test.err)
		}
		busy.open()
		succeeds(t, ended(t, call))
		succeeds(t, l.Shutdown(bg))
		want{ioerr.ShutdownInProgress, ioerr.Lane, ioerr.None, ioerr.ErrShutdown, noID, "", laneName}.check(t, p.Do(bg, nothing))
		closes(t, p)
	})
}
