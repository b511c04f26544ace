package pool_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Faults that people have met when a pool was shut down; docs/faults.md names the reports.

// A stop forgets those that were queued: they are not counted, and their callers wait on.
func TestAShutdownForgetsNobodyWhoWaits(t *testing.T) {
	const each = 5
	everywhere(t, need{bounded: true, gated: true}, lane.Config{Queue: each, Waiters: each}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("each shard has a queue")
		}
		p := on(g, pool.Config[int]{Waiters: each})
		id := adopt(t, p, 1)
		full := fill(t, g, p)
		call := func(ctx context.Context) <-chan error {
			c := start(func() error {
				return second(pool.Offload(ctx, p, func(context.Context) (int, error) { t.Error("ran"); return 0, nil }))
			})
			synctest.Wait()
			return c
		}
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		var queued, waiting []<-chan error
		for range each {
			queued = append(queued, call(ctx))
		}
		for range each - 1 {
			waiting = append(waiting, call(bg))
		}
		holder := start(func() error { return p.With(bg, id, leave) }) // waits for acceptance, with the handle
		synctest.Wait()
		for range each {
			waiting = append(waiting, start(func() error { return p.With(bg, id, leave) }))
		}
		synctest.Wait()
		began := time.Now()
		down := start(func() error { return p.Shutdown(bg) })
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		for _, c := range append(waiting, holder) {
			w.check(t, ended(t, c))
		}
		for _, c := range queued { // accepted: they would run
			waits(t, c)
		}
		cancel() // but their callers give up
		for _, c := range queued {
			if e := typed(t, ended(t, c)); e.Effect != ioerr.None {
				t.Errorf("%#v", e)
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("it took %v to tell them", d)
		}
		waits(t, down)
		full.open()
		succeeds(t, ended(t, down))
		s := p.Stats()
		if s.Shutdown+s.Cancelled != 3*each || s.Shutdown < 2*each || s.Ran != 0 {
			t.Errorf("%d were told of the shutdown and %d cancelled, want %d and %d", s.Shutdown, s.Cancelled, 2*each, each)
		}
		if l := s.Lane; l.Dropped != each || l.Started != l.Completed || l.Accepted != l.Started+l.Dropped || l.Queued+l.Waiting != 0 {
			t.Errorf("%+v", l)
		}
	})
}

// Work that is handed in while the pool is shut down neither runs nor is refused.
func TestNothingIsTakenOnWhileAShutdownWaitsForALeftCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l := abandons(t, pool.Config[*gate]{}, lane.AbandoningConfig{Config: lane.Config{Workers: 1}, Left: 1})
		dead := newGate()
		id, healthy := adopt(t, p, dead), adopt[*gate](t, p, nil)
		isLeft(t, ask(t, p, id, time.Second), "")
		hangs := start(func() error {
			return second(pool.Offload(bg, p, func(ctx context.Context) (int, error) { return 0, dead.pass(ctx) }))
		})
		waits(t, hangs)
		down := start(p.Close)
		waits(t, down)
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		began := time.Now()
		gone, cancel := context.WithCancel(bg)
		cancel()
		for _, ctx := range []context.Context{bg, gone} {
			for range 10 {
				ran := func(context.Context) (int, error) { t.Error("ran"); return 0, nil }
				use := func(context.Context, *gate) (int, error) { t.Error("ran"); return 0, nil }
				w.check(t, second(pool.Offload(ctx, p, ran)))
				w.check(t, second(pool.Offload(ctx, p, ran, pool.Label("x"), pool.Key("k"), pool.Urgent)))
				w.check(t, second(pool.OffloadOn(ctx, p, id, use)))
				w.check(t, second(pool.OffloadOn(ctx, p, healthy, use, pool.FailFast)))
				w.check(t, second(p.Register(ctx, func(context.Context) (*gate, error) { t.Error("ran"); return nil, nil })))
				w.check(t, second(p.Adopt(nil)))
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("the refusals took %v", d)
		}
		waits(t, down)
		if s := l.Stats(); s.Submitted != 2 {
			t.Errorf("%+v", s)
		}
		dead.open()
		succeeds(t, ended(t, hangs))
		succeeds(t, ended(t, down))
	})
}

// The count of calls is wrong after a refusal, so that the wait for their end has none; or
// it grows while somebody waits for it.
func TestShutdownEndsWhenTheCallsDoThatWereAccepted(t *testing.T) {
	for range rounds(60, 6000) {
		var late atomic.Int64
		p, l := abandons(t, pool.Config[int]{}, lane.AbandoningConfig{
			Config: lane.Config{Workers: 4, Queue: 4, Waiters: 4},
			OnLate: func(lane.LeftCall) { late.Add(1) },
		})
		base := runtime.NumGoroutine()
		id := adopt(t, p, 1)
		g := newGate()
		var started, finished, received, left, refusals atomic.Int64
		fn := func(sit bool) func(ctx context.Context) (int, error) {
			return func(ctx context.Context) (int, error) {
				started.Add(1)
				defer finished.Add(1)
				if sit {
					<-g.opened
				}
				return 0, nil
			}
		}
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() {
				for k := range 4 {
					ctx, cancel := context.WithCancel(bg)
					work, opts := fn((i+k)%8 == 0), []pool.Option{{}, pool.FailFast}[k%2:][:1]
					time.AfterFunc(time.Duration(i+k)*20*time.Microsecond, cancel)
					var err error
					if k == 3 {
						err = second(pool.OffloadOn(ctx, p, id, func(ctx context.Context, _ int) (int, error) { return work(ctx) }, opts...))
					} else {
						err = second(pool.Offload(ctx, p, work, opts...))
					}
					cancel()
					switch e := typed(t, err); {
					case e == nil:
						received.Add(1)
					case wasLeft(err):
						left.Add(1)
					case e.Effect == ioerr.None:
						refusals.Add(1)
					default:
						t.Errorf("%#v", e)
					}
				}
			})
		}
		var waiters sync.WaitGroup
		for range 4 {
			waiters.Go(func() {
				ctx, cancel := context.WithTimeout(bg, 500*time.Microsecond)
				defer cancel()
				_ = typed(t, p.Shutdown(ctx))
				succeeds(t, p.Close())
				if n := started.Load() - finished.Load(); n != 0 {
					t.Errorf("%d calls run after the shutdown", n)
				}
			})
		}
		wg.Wait()
		g.open()
		waiters.Wait()
		s := l.Stats()
		if received.Load()+left.Load()+refusals.Load() != 32*4 || received.Load()+left.Load() != started.Load() {
			t.Errorf("%d received, %d left, %d refused of %d; %d ran", received.Load(), left.Load(), refusals.Load(), 32*4, started.Load())
		}
		if s.Accepted != s.Completed+s.Dropped || s.Completed != uint64(started.Load()) || s.LeftTotal != uint64(left.Load()) || late.Load() != left.Load() || len(s.Left) != 0 {
			t.Errorf("%d ran, %d late; %+v", started.Load(), late.Load(), s)
		}
		settles(t, base)
	}
}
