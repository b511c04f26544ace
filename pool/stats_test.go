package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: each outcome is counted once, as what it was.
func TestOutcomesAreCountedExactly(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.name == "sharded isolated" {
			t.Skip("the scenario counts on one lane")
		}
		shop := newShop(t)
		broken := errors.New("broken")
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		ctx, cancel := context.WithCancel(bg)
		late, stop := context.WithTimeout(bg, time.Second)
		defer stop()
		for range 10 {
			succeeds(t, p.Do(bg, nothing))
			succeeds(t, p.With(bg, id, with(nothing)))
		}
		is(t, p.Do(bg, func(context.Context) error { return broken }), broken)                          // Failed, Ran
		is(t, p.With(bg, id, with(func(context.Context) error { panic(broken) })), broken)              // Failed, Ran, Panicked
		exits(t, func() { _ = p.Do(bg, func(context.Context) error { runtime.Goexit(); return nil }) }) // Failed, Ran, Exited
		is(t, p.With(bg, noID, leave), ioerr.ErrHandleNotFound)                                         // Failed
		is(t, p.Do(bg, nil), ioerr.ErrInvalid)                                                          // Failed
		succeeds(t, p.Destroy(bg, id))
		is(t, second(p.Register(bg, func(context.Context) (*thing, error) { return nil, broken })), broken)                              // Failed, Ran
		is(t, second(pool.Scoped(bg, p, shop.open, func(context.Context, *thing) (int, error) { panic(broken) }, shop.dispose)), broken) // Failed, Ran, Panicked
		full := fill(t, g, p)
		queued := start(func() error { return p.Do(ctx, nothing) })
		timed := start(func() error { return p.Do(late, nothing) })
		waits(t, queued)
		cancel()
		is(t, ended(t, queued), context.Canceled)   // Cancelled
		is(t, p.Do(ctx, nothing), context.Canceled) // Cancelled
		time.Sleep(time.Second)
		is(t, ended(t, timed), context.DeadlineExceeded) // TimedOut
		down := start(p.Close)
		synctest.Wait()
		for range 3 {
			is(t, p.Do(bg, nothing), ioerr.ErrShutdown) // Shutdown
		}
		full.open()
		succeeds(t, ended(t, down))
		s := p.Stats()
		got := [...]uint64{s.Failed, s.Cancelled, s.TimedOut, s.Shutdown, s.Ran, s.Panicked, s.Exited, s.Disposed, s.DisposeFailed}
		if want := [...]uint64{7, 2, 1, 3, 5, 2, 1, 1, 0}; got != want {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		shop.allBack()
	})
}

// Law: what Destroy and Shutdown have to say is no call's outcome.
func TestDestroyAndShutdownAreNoCalls(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		broken := errors.New("broken")
		shop.fails = func(*thing) error { return broken }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id, used := adopt(t, p, shop.make()), adopt(t, p, shop.make())
		is(t, p.Destroy(bg, id), broken)
		is(t, p.Destroy(bg, noID), ioerr.ErrHandleNotFound)
		succeeds(t, p.Do(bg, func(ctx context.Context) error { is(t, p.Shutdown(ctx), ioerr.ErrReentry); return nil }))
		busy := newGate()
		holder := start(func() error { return p.With(bg, used, with(busy.pass)) })
		busy.await(t, 1)
		late, stop := context.WithTimeout(bg, time.Second)
		defer stop()
		is(t, p.Destroy(late, used), context.DeadlineExceeded)
		_, err := shutdownFor(t, p, time.Second)
		is(t, err, context.DeadlineExceeded)
		busy.open()
		succeeds(t, ended(t, holder))
		is(t, p.Close(), broken)
		s := p.Stats()
		if s.Failed+s.Cancelled+s.TimedOut+s.Shutdown+s.Ran != 0 || s.Disposed != 2 || s.DisposeFailed != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// Law: the sums of a snapshot hold whenever it is taken.
func TestStatsAddUp(t *testing.T) {
	for _, pl := range places {
		if !pl.gated {
			continue // what such a lane counts is its own affair
		}
		t.Run(pl.name, func(t *testing.T) {
			shop := newShop(t)
			p := on(pl.settle(t, lane.Config{Workers: 2, Queue: 4, Waiters: 4}), pool.Config[*thing]{Dispose: shop.dispose})
			stop := make(chan int)
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						switch i % 4 {
						case 0:
							_ = p.Do(bg, func(context.Context) error { runtime.Gosched(); return nil })
						case 1:
							ctx, cancel := context.WithTimeout(bg, 10*time.Microsecond)
							_ = p.Do(ctx, nothing, pool.Label("x"))
							cancel()
						case 2:
							if id, err := p.Register(bg, shop.open); err == nil {
								_ = p.With(bg, id, with(nothing), pool.FailFast)
								_ = p.Destroy(bg, id)
							}
						case 3:
							_ = p.Do(bg, nothing, pool.FailFast)
							_ = p.Do(bg, func(context.Context) error { panic(1) })
						}
					}
				})
			}
			for range rounds(2000, 100_000) {
				s := p.Stats()
				l := s.Lane
				if l.Accepted != l.Started+uint64(l.Queued)+l.Dropped || l.Started != l.Completed+uint64(l.Running) ||
					l.Submitted != l.Accepted+uint64(l.Waiting)+l.Refused.Total() {
					t.Fatalf("%+v", l)
				}
				if s.Handles < 0 || s.Handles > 2 || s.Retired < 0 || s.Retired > 2 || s.HooksHanging != 0 ||
					s.Panicked+s.Exited > s.Ran || s.Ran > s.Failed+s.Shutdown {
					t.Fatalf("%+v", s)
				}
			}
			close(stop)
			wg.Wait()
			closes(t, p)
			if l := p.Stats().Lane; l.Running != 0 || l.Queued != 0 || l.Waiting != 0 || l.Started != l.Completed {
				t.Errorf("%+v", l)
			}
			shop.allBack()
		})
	}
}

// Law: labelled calls are listed while they run, the oldest first, also nested ones.
func TestRunningCallsAreListedWithTheirAge(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 1)
		busy := newGate()
		first := start(func() error {
			return p.Do(bg, func(ctx context.Context) error {
				time.Sleep(time.Second)
				return p.With(ctx, id, hold[int](busy), pool.Label("inner"))
			}, pool.Label("outer"))
		})
		busy.await(t, 1)
		time.Sleep(time.Second)
		second := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		got := p.Stats().Running
		if len(got) != 2 || got[0] != (pool.Call{Label: "outer", Age: 2 * time.Second}) || got[1] != (pool.Call{Label: "inner", Handle: id, Age: time.Second}) {
			t.Errorf("%v", got)
		}
		if s := got[1].String(); s != "inner "+id.String()+" 1s" {
			t.Errorf("%q", s)
		}
		busy.open()
		succeeds(t, ended(t, first))
		succeeds(t, ended(t, second))
		if got := p.Stats().Running; got != nil {
			t.Errorf("%v", got)
		}
		closes(t, p)
	})
}

func TestStateOnlyMovesForward(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		busy := newGate()
		call := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		state := func(want pool.State, text string) {
			t.Helper()
			if got := p.Stats().State; got != want || got.String() != text {
				t.Errorf("%v, want %v", got, want)
			}
		}
		state(pool.Open, "open")
		_, _ = shutdownFor(t, p, 0)
		state(pool.Draining, "draining")
		busy.open()
		succeeds(t, ended(t, call))
		state(pool.Draining, "draining")
		closes(t, p)
		state(pool.Closed, "closed")
		_, _ = shutdownFor(t, p, 0)
		state(pool.Closed, "closed")
	})
}
