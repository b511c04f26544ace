package pool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: at most one transaction touches a resource at a time, and the next one
// sees all that the last one did.
func TestTransactionIsExclusive(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 8}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		r := shop.make()
		id := adopt(t, p, r)
		for range 60 {
			spawn(t, func() error {
				return p.With(bg, id, with(func(context.Context) error { time.Sleep(time.Millisecond); return nil }))
			})
		}
		time.Sleep(time.Minute)
		closes(t, p)
		if r.uses != -1 { // disposed of
			t.Errorf("%d", r.uses)
		}
		shop.allBack()
	})
}

// Law: what a transaction did before it failed stays done.
func TestNothingIsRolledBack(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[*int]{})
		id := adopt(t, p, new(int))
		broken := errors.New("broken")
		is(t, p.With(bg, id, func(_ context.Context, n *int) error { *n = 42; return broken }), broken)
		is(t, p.With(bg, id, func(_ context.Context, n *int) error { *n++; panic(broken) }), broken)
		n, err := pool.Transact(bg, p, id, func(_ context.Context, n *int) (int, error) { return *n, nil })
		succeeds(t, err)
		if n != 43 {
			t.Errorf("%d, want 43", n)
		}
		closes(t, p)
	})
}

// Law: resources do not block one another, up to the slots of the lane.
func TestBusyHandleBlocksNoOtherHandle(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 3}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		busy := newGate()
		var stuck []<-chan error
		for range 2 {
			id := adopt(t, p, shop.make())
			stuck = append(stuck, start(func() error { return p.With(bg, id, with(busy.pass)) }))
		}
		busy.await(t, 2)
		if g.name == "sharded isolated" {
			busy.open() // the two may fill the shard of a third
		}
		for range 10 {
			id := adopt(t, p, shop.make())
			succeeds(t, p.With(bg, id, with(nothing)))
			succeeds(t, p.Destroy(bg, id))
		}
		if g.name != "sharded isolated" {
			busy.open()
		}
		for _, c := range stuck {
			succeeds(t, ended(t, c))
		}
		closes(t, p)
		shop.allBack()
	})
}

// Law: as many callers wait for a handle as are allowed, exactly; the next is
// refused at once, whatever the lane's policy; one that leaves makes room at once.
func TestWaitersForAHandleAreBoundedExactly(t *testing.T) {
	for waiters, config := range map[int]int{0: lane.NoWaiters, 1: 1, 4: 4, 16: 16, 32: 32, 64: 0} {
		everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
			p := on(g, pool.Config[int]{Waiters: config})
			id := adopt(t, p, 1)
			busy := newGate()
			holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
			busy.await(t, 1)
			full := refusal(ioerr.Handle, ioerr.ErrWaitersFull)
			full.lane = laneName
			ctx, cancel := context.WithCancel(bg)
			defer cancel()
			for range 3 { // waves that are cancelled leave no trace
				ctx, cancel := context.WithCancel(bg)
				var wave []<-chan error
				for range waiters {
					wave = append(wave, start(func() error { return p.With(ctx, id, leave) }))
				}
				synctest.Wait()
				full.check(t, p.With(bg, id, leave))
				cancel()
				for _, c := range wave {
					is(t, ended(t, c), context.Canceled)
				}
			}
			var wave []<-chan error
			for range waiters {
				wave = append(wave, start(func() error { return p.With(ctx, id, leave) }))
			}
			synctest.Wait()
			full.check(t, p.With(bg, id, leave))
			busy.open()
			succeeds(t, ended(t, holder))
			for _, c := range wave {
				succeeds(t, ended(t, c))
			}
			closes(t, p)
		})
	}
}

// Law: a waiter whose context ends leaves the line before a handle at once, also
// behind a holder that never ends.
func TestWaiterLeavesTheLineBeforeAHandleAtOnce(t *testing.T) {
	cause := errors.New("cause")
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		busy := newGate()
		holder := start(func() error { return p.With(bg, id, hold[int](busy)) })
		busy.await(t, 1)
		ran := func(context.Context, int) error { t.Error("ran"); return nil }
		ctx, cancel := context.WithCancelCause(bg)
		cancelled := start(func() error { return p.With(ctx, id, ran, pool.Label("read")) })
		late, stop := context.WithTimeout(bg, time.Second)
		defer stop()
		timedOut := start(func() error { return p.With(late, id, ran) })
		notAccepted := start(func() error { return p.With(bg, id, ran, pool.AcceptWithin(2*time.Second)) })
		waits(t, cancelled)
		cancel(cause)
		want{ioerr.Cancelled, ioerr.Handle, ioerr.None, cause, id, "read", laneName}.check(t, ended(t, cancelled))
		waits(t, timedOut)
		time.Sleep(time.Second)
		want{ioerr.TimedOut, ioerr.Handle, ioerr.None, context.DeadlineExceeded, id, "", laneName}.check(t, ended(t, timedOut))
		waits(t, notAccepted)
		time.Sleep(time.Second)
		want{ioerr.TimedOut, ioerr.Handle, ioerr.None, ioerr.ErrAcceptTimeout, noID, "", laneName}.check(t, ended(t, notAccepted))
		want{ioerr.Failed, ioerr.Handle, ioerr.None, ioerr.ErrHandleBusy, noID, "", laneName}.check(t, p.With(bg, id, ran, pool.FailFast))
		busy.open()
		succeeds(t, ended(t, holder))
		succeeds(t, p.With(bg, id, leave))
		closes(t, p)
	})
}

// Law: the lease is given back, once, when the lane refuses the transaction.
func TestLeaseIsGivenBackWhenTheLaneRefuses(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Queue: lane.NoQueue, Waiters: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Waiters: lane.NoWaiters})
		id := adopt(t, p, 1)
		full := fill(t, g, p)
		ran := func(context.Context, int) error { t.Error("ran"); return nil }
		for range 10 {
			is(t, p.With(bg, id, ran, pool.FailFast), ioerr.ErrQueueFull)
			is(t, p.With(bg, id, ran, pool.AcceptWithin(time.Second)), ioerr.ErrAcceptTimeout)
			ctx, cancel := context.WithTimeout(bg, time.Second)
			want{ioerr.TimedOut, ioerr.Lane, ioerr.None, context.DeadlineExceeded, id, "x", laneName}.check(t, p.With(ctx, id, ran, pool.Label("x")))
			cancel()
		}
		full.open()
		synctest.Wait()
		succeeds(t, p.With(bg, id, leave))
		closes(t, p)
	})
}
