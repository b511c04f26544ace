package pool_test

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: the caller gets what the call returned, and both if it returned both.
func TestCallerGetsWhatTheCallReturned(t *testing.T) {
	broken := errors.New("broken")
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		id := adopt(t, p, 7)
		for _, test := range []struct {
			value int
			err   error
		}{{42, nil}, {0, nil}, {0, broken}, {42, broken}, {1, fs.ErrNotExist}} {
			run, err := pool.Run(bg, p, func(context.Context) (int, error) { return test.value, test.err })
			tx, txErr := pool.Transact(bg, p, id, func(_ context.Context, r int) (int, error) { return test.value * r, test.err })
			do := p.Do(bg, func(context.Context) error { return test.err })
			with := p.With(bg, id, func(context.Context, int) error { return test.err })
			if run != test.value || tx != 7*test.value {
				t.Errorf("values %d and %d, want %d and %d", run, tx, test.value, 7*test.value)
			}
			for i, err := range []error{err, do, txErr, with} {
				if test.err == nil {
					succeeds(t, err)
					continue
				}
				w := leaf(test.err)
				w.lane = laneName
				if i > 1 {
					w.id = id
				}
				w.check(t, err)
				if e := typed(t, err); e.Err != test.err || err.Error() != test.err.Error() {
					t.Errorf("the call's own error was changed: %v", err)
				}
			}
		}
		closes(t, p)
	})
}

// Law: a call runs once, on the goroutine of its caller.
func TestCallRunsOnceOnItsCallersGoroutine(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		ran := 0
		succeeds(t, p.Do(bg, func(context.Context) error {
			ran++
			buf := make([]byte, 1<<16)
			if stack := string(buf[:runtime.Stack(buf, false)]); !strings.Contains(stack, "TestCallRunsOnceOnItsCallersGoroutine") {
				t.Errorf("the caller is not on the stack:\n%s", stack)
			}
			return nil
		}))
		if ran != 1 {
			t.Errorf("ran %d times", ran)
		}
		closes(t, p)
	})
}

// Law: a lane of N never runs more than N calls at a time, transactions, openings
// and nested calls included.
func TestNeverMoreCallsThanSlots(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Workers: 3}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		var running atomic.Int64
		var call func(ctx context.Context) error
		call = func(ctx context.Context) error {
			if n := running.Add(1); int(n) > g.slots {
				t.Errorf("%d calls run on %d slots", n, g.slots)
			}
			defer running.Add(-1)
			time.Sleep(time.Millisecond)
			if err := p.Do(ctx, call); err != nil {
				is(t, err, ioerr.ErrReentry)
			}
			return nil
		}
		for range 20 {
			spawn(t, func() error { return p.Do(bg, call) })
			id := adopt(t, p, shop.make())
			spawn(t, func() error { return p.With(bg, id, with(call)) })
			spawn(t, func() error {
				_, err := p.Register(bg, func(ctx context.Context) (*thing, error) { return shop.make(), call(ctx) })
				return err
			})
		}
		time.Sleep(time.Hour)
		closes(t, p)
		shop.allBack()
	})
}

// Law: a context that ends in the queue takes its call out at once; it never runs,
// and its place is free. The cause is kept.
func TestContextThatEndsInTheQueueTakesItsCallOut(t *testing.T) {
	cause := errors.New("cause")
	everywhere(t, need{bounded: true}, lane.Config{Queue: 1, Waiters: 1}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("each shard has a queue")
		}
		p := on(g, pool.Config[int]{})
		full := fill(t, g, p)
		ran := func(context.Context) error { t.Error("ran"); return nil }
		for range 20 { // more often than there are places
			cancelled, cancel := context.WithCancelCause(bg)
			late, stop := context.WithTimeoutCause(bg, time.Second, cause)
			first := start(func() error { return p.Do(cancelled, ran, pool.Label("first")) })
			waits(t, first)
			second := start(func() error { return p.Do(late, ran, pool.Label("second")) })
			waits(t, second)
			cancel(cause)
			want{ioerr.Cancelled, ioerr.Lane, ioerr.None, cause, noID, "first", laneName}.check(t, ended(t, first))
			waits(t, second)
			time.Sleep(time.Second)
			want{ioerr.TimedOut, ioerr.Lane, ioerr.None, cause, noID, "second", laneName}.check(t, ended(t, second))
			stop()
		}
		full.open()
		closes(t, p)
	})
}

// Law: a context that ends while the call runs does not end it: the caller waits
// and gets the real result.
func TestContextThatEndsWhileTheCallRunsDoesNotEndIt(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		broken := errors.New("broken")
		for _, result := range []error{nil, broken} {
			ctx, cancel := context.WithCancel(bg)
			busy := newGate()
			call := start(func() error {
				n, err := pool.Run(ctx, p, func(context.Context) (int, error) { busy.stay(); return 42, result })
				if n != 42 {
					t.Errorf("result %d", n)
				}
				return err
			})
			busy.await(t, 1)
			cancel()
			waits(t, call)
			busy.open()
			if err := ended(t, call); result == nil {
				succeeds(t, err)
			} else {
				w := leaf(broken)
				w.lane = laneName
				w.check(t, err)
			}
		}
		closes(t, p)
	})
}

// Law: the deadline for acceptance bounds acceptance only.
func TestAcceptWithinBoundsAcceptanceOnly(t *testing.T) {
	everywhere(t, need{bounded: true, gated: true}, lane.Config{Queue: 1, Waiters: 4}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("each shard has a queue")
		}
		p := on(g, pool.Config[int]{})
		succeeds(t, p.Do(bg, nothing, pool.AcceptWithin(0))) // a free slot needs no time
		succeeds(t, p.Do(bg, func(context.Context) error { time.Sleep(time.Hour); return nil }, pool.AcceptWithin(time.Second)))
		full := fill(t, g, p)
		accepted := start(func() error { return p.Do(bg, nothing, pool.AcceptWithin(time.Second)) })
		waits(t, accepted)
		w := refusal(ioerr.Lane, ioerr.ErrAcceptTimeout)
		w.lane = laneName
		for _, d := range []time.Duration{0, -1, -1 << 63} {
			w.check(t, p.Do(bg, nothing, pool.AcceptWithin(d)))
		}
		waiting := start(func() error { return p.Do(bg, nothing, pool.AcceptWithin(time.Second)) })
		endless := start(func() error { return p.Do(bg, nothing, pool.AcceptWithin(1<<63-1)) })
		time.Sleep(time.Second - 1)
		waits(t, waiting)
		time.Sleep(time.Nanosecond)
		w.check(t, ended(t, waiting))
		time.Sleep(time.Hour)
		waits(t, accepted)
		waits(t, endless)
		full.open()
		succeeds(t, ended(t, accepted))
		succeeds(t, ended(t, endless))
		closes(t, p)
	})
}

// Law: policies are for each call; of options of one kind the last counts; the
// zero option does nothing.
func TestOptionsAreForOneCall(t *testing.T) {
	everywhere(t, need{bounded: true, gated: true}, lane.Config{Queue: lane.NoQueue, Waiters: 1, Policy: lane.FailFast}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("each shard has a queue")
		}
		p := on(g, pool.Config[int]{})
		full := fill(t, g, p)
		is(t, p.Do(bg, nothing), ioerr.ErrQueueFull)
		is(t, p.Do(bg, nothing, pool.Wait, pool.FailFast, pool.Option{}), ioerr.ErrQueueFull)
		waiting := start(func() error { return p.Do(bg, nothing, pool.FailFast, pool.Wait) })
		waits(t, waiting)
		is(t, p.Do(bg, nothing, pool.Wait), ioerr.ErrOverloaded)
		full.open()
		succeeds(t, ended(t, waiting))
		err := p.Do(bg, func(context.Context) error { return fs.ErrExist }, pool.Label("one"), pool.Label("two"))
		if e := typed(t, err); e.Label != "two" {
			t.Errorf("label %q", e.Label)
		}
		closes(t, p)
	})
}

// Law: an urgent call finds the slots that are kept for it.
func TestUrgentCallUsesReservedSlots(t *testing.T) {
	everywhere(t, need{bounded: true, gated: true, reserved: true}, lane.Config{Workers: 2, Reserved: 1}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		full := newGate()
		for range g.shards {
			spawn(t, func() error { return p.Do(bg, full.pass) })
		}
		full.await(t, g.shards)
		bulk := start(func() error { return p.Do(bg, nothing) })
		waits(t, bulk)
		succeeds(t, p.Do(bg, nothing, pool.Urgent))
		succeeds(t, p.With(bg, adopt(t, p, 1), leave, pool.Urgent))
		waits(t, bulk)
		full.open()
		succeeds(t, ended(t, bulk))
		closes(t, p)
	})
}

// Law: at most PerKey calls with one key run at a time; other keys do not mind.
func TestKeyBoundsItsCalls(t *testing.T) {
	everywhere(t, need{bounded: true, gated: true}, lane.Config{Workers: 4, PerKey: 1}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		busy := newGate()
		one := start(func() error { return p.Do(bg, busy.pass, pool.Key("disk")) })
		busy.await(t, 1)
		other := start(func() error { return p.Do(bg, nothing, pool.Key("disk")) })
		waits(t, other)
		succeeds(t, p.Do(bg, nothing, pool.Key("tape")))
		succeeds(t, p.Do(bg, nothing))
		is(t, p.Do(bg, nothing, pool.Key("disk"), pool.FailFast), ioerr.ErrKeyBusy)
		busy.open()
		succeeds(t, ended(t, one))
		succeeds(t, ended(t, other))
		synctest.Wait()
		closes(t, p)
	})
}
