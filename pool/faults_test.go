package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Faults that people have met in programs that do blocking I/O.

// Submitting races with stopping: a send on a closed channel panics, a call is
// forgotten, the stop returns while calls run.
func TestSubmittersAgainstShutdown(t *testing.T) {
	const submitters = 32
	configs := []lane.Config{
		{Workers: 1},
		{Workers: 4},
		{Workers: 2, Queue: lane.NoQueue, Waiters: lane.NoWaiters},
		{Workers: 1, Queue: 2, Waiters: 2},
		{Workers: 64},
		{Workers: 2, Patience: lane.Strict},
	}
	base := runtime.NumGoroutine()
	for i := range rounds(10_000, 100_000) {
		p := on(places[i%len(places)].settle(t, configs[i%len(configs)]), pool.Config[int]{})
		id := adopt(t, p, 1)
		var times, succeeded atomic.Int64
		var wg sync.WaitGroup
		for k := range submitters {
			wg.Go(func() {
				var err error
				if k%4 == 0 {
					err = p.With(bg, id, func(context.Context, int) error { times.Add(1); return nil })
				} else {
					err = p.Do(bg, func(context.Context) error { times.Add(1); return nil })
				}
				switch e := typed(t, err); {
				case e == nil:
					succeeded.Add(1)
				case e.Effect != ioerr.None || e.Outcome == ioerr.Failed && !errors.Is(e, ioerr.ErrOverloaded):
					t.Errorf("%#v", e)
				}
			})
		}
		if i%2 == 0 {
			runtime.Gosched()
		}
		succeeds(t, p.Close())
		after := times.Load()
		wg.Wait()
		if times.Load() != succeeded.Load() {
			t.Fatalf("%d succeeded, %d ran", succeeded.Load(), times.Load())
		}
		if times.Load() != after {
			t.Fatalf("%d calls ran after the shutdown had returned", times.Load()-after)
		}
	}
	settles(t, base)
}

// One resource is stuck, and with it everything that has nothing to do with it.
func TestStuckResourceHoldsUpNothingElse(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		if g.name == "sharded isolated" {
			t.Skip("other handles may belong to the stuck one's shard; that is what it is for")
		}
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		dead := adopt(t, p, shop.make())
		busy := newGate()
		var stuck []<-chan error
		stuck = append(stuck, start(func() error { return p.With(bg, dead, with(busy.pass), pool.Label("stuck")) }))
		busy.await(t, 1)
		for range 64 {
			stuck = append(stuck, start(func() error { return p.With(bg, dead, leave) }))
		}
		synctest.Wait()
		began := time.Now()
		if s := p.Stats(); len(s.Running) != 1 || s.Running[0].Handle != dead {
			t.Errorf("%+v", s)
		}
		for range 10 {
			id, err := p.Register(bg, shop.open)
			succeeds(t, err)
			succeeds(t, p.With(bg, id, with(nothing)))
			succeeds(t, p.Replace(bg, id, func(context.Context, *thing) (*thing, error) { return shop.make(), nil }))
			succeeds(t, p.Destroy(bg, id))
			succeeds(t, p.Do(bg, nothing))
			if p.Has(id) || !p.Has(dead) {
				t.Error("the wrong one is gone")
			}
		}
		if l, ok := g.lane.(interface{ Resize(n int) error }); ok {
			if err := errors.Join(l.Resize(5), l.Resize(1), l.Resize(2)); err != nil {
				t.Error(err)
			}
		}
		if g.shared {
			closes(t, on(g, pool.Config[int]{}))
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("took %v, want no time", d)
		}
		busy.open()
		for _, c := range stuck {
			succeeds(t, ended(t, c))
		}
		closes(t, p)
		shop.allBack()
	})
}

// Closing is interrupted, and done again on a number that is somebody else's by
// now; or not done, and the failure swallowed.
func TestInterruptedCloseIsDoneOnceAndReported(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		var closed int
		p := on(g, pool.Config[int]{Dispose: func(int) error { closed++; return syscall.EINTR }})
		id := adopt(t, p, 7)
		err := p.Destroy(bg, id)
		is(t, err, syscall.EINTR)
		if closed != 1 || p.Has(id) {
			t.Errorf("closed %d times", closed)
		}
		succeeds(t, p.Destroy(bg, id))
		is(t, p.With(bg, id, leave), ioerr.ErrHandleNotFound)
		if next := adopt(t, p, 8); next == id || next.Uint64() == id.Uint64() {
			t.Errorf("the ID %v is used again", next)
		}
		is(t, p.Close(), syscall.EINTR)
		if closed != 2 {
			t.Errorf("closed %d times", closed)
		}
	})
}

// A cancel comes for nothing, or late and hits the next one.
func TestCancelAgainstCompletion(t *testing.T) {
	p := makePool(t, pool.Config[*thing]{Threads: lane.Config{Workers: 2, Queue: 4}})
	shop := newShop(t)
	id := adopt(t, p, shop.make())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range rounds(50_000, 500_000) {
				ctx, cancel := context.WithCancel(bg)
				var times atomic.Int32
				flip := rand.Uint32()
				work := func(context.Context) error {
					times.Add(1)
					if flip&1 != 0 {
						runtime.Gosched()
					}
					return nil
				}
				switch flip >> 1 % 3 {
				case 0:
					cancel()
				case 1:
					go cancel()
				case 2:
					inner := work
					work = func(ctx context.Context) error { cancel(); return inner(ctx) }
				}
				var err error
				if i%2 == 0 {
					err = p.With(ctx, id, with(work))
				} else {
					err = p.Do(ctx, work)
				}
				if o := outcomeOf(t, times.Load(), err); o != ran && o != cancelled {
					t.Errorf("outcome %v: %v", o, err)
				}
				cancel()
				succeeds(t, p.With(bg, id, with(func(ctx context.Context) error { return ctx.Err() })))
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.Lane.Running != 0 || s.Lane.Started != s.Lane.Completed {
		t.Errorf("%+v", s)
	}
	closes(t, p)
}

// "Done" is reported before it is done; what was accepted does not run.
func TestSuccessMeansDone(t *testing.T) {
	for _, pl := range places {
		p := on(pl.settle(t, lane.Config{Workers: 4}), pool.Config[int]{})
		var written, succeeded atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				for range 20 {
					mine := false
					err := p.Do(bg, func(context.Context) error { nap(time.Microsecond); written.Add(1); mine = true; return nil })
					if (err == nil) != mine {
						t.Errorf("%v, but done is %v", err, mine)
					}
					if err == nil {
						succeeded.Add(1)
					}
				}
			})
		}
		nap(2 * time.Millisecond)
		require.NoError(t, p.Close())
		atEnd := written.Load()
		wg.Wait()
		if written.Load() != atEnd || succeeded.Load() != atEnd {
			t.Errorf("%s: %d written when Shutdown returned, %d in the end, %d succeeded", pl.name, atEnd, written.Load(), succeeded.Load())
		}
	}
}
