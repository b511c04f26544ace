package pool_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: Shutdown refuses newcomers, of whatever kind, from its beginning on.
func TestShutdownRefusesNewcomersAtOnce(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		busy := newGate()
		call := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		down := start(p.Close)
		waits(t, down)
		if s := p.Stats(); s.State != pool.Draining {
			t.Errorf("state %v", s.State)
		}
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		dead, cancel := context.WithCancel(bg)
		cancel()
		for _, ctx := range []context.Context{bg, dead, t.Context()} {
			w.check(t, p.Do(ctx, nothing))
			w.check(t, p.With(ctx, id, leave))
			w.check(t, p.With(ctx, handle.ID{}, leave))
			w.check(t, p.With(ctx, handle.Make(1, 2, 3), leave))
			w.check(t, p.Replace(ctx, id, func(context.Context, *thing) (*thing, error) { return nil, nil }))
			w.check(t, second(p.Register(ctx, shop.open)))
			w.check(t, second(pool.Scoped(ctx, p, shop.open, func(context.Context, *thing) (int, error) { return 0, nil }, nil)))
			w.check(t, second(p.Adopt(nil)))
		}
		if p.Has(id) {
			t.Error("the ID still names something")
		}
		succeeds(t, p.Destroy(bg, id))
		busy.open()
		succeeds(t, ended(t, call))
		succeeds(t, ended(t, down))
		shop.allBack()
	})
}

// Law: at Shutdown waiters for a handle get ErrShutdown, nothing else, at once,
// while the holder runs to its end and gets its result.
func TestShutdownWakesWaitersForHandles(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		busy := newGate()
		result := errors.New("result")
		holder := start(func() error {
			return p.With(bg, id, with(func(ctx context.Context) error { busy.stay(); return result }))
		})
		busy.await(t, 1)
		var waiters []<-chan error
		for range 64 {
			waiters = append(waiters, start(func() error { return p.With(bg, id, leave) }))
		}
		synctest.Wait()
		down := start(p.Close)
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		for _, c := range waiters {
			w.check(t, ended(t, c))
		}
		waits(t, holder)
		waits(t, down)
		busy.open()
		is(t, ended(t, holder), result)
		succeeds(t, ended(t, down))
		shop.allBack()
	})
}

// Law: what was accepted runs; who was not accepted gets ErrShutdown at once.
func TestShutdownRunsWhatWasAcceptedAndRefusesTheRest(t *testing.T) {
	everywhere(t, need{bounded: true, gated: true}, lane.Config{Queue: 3, Waiters: 5}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip("each shard has a queue")
		}
		p := on(g, pool.Config[int]{})
		full := fill(t, g, p)
		var accepted, waiting []<-chan error
		for range 3 {
			accepted = append(accepted, start(func() error { return p.Do(bg, nothing) }))
			synctest.Wait()
		}
		for range 5 {
			waiting = append(waiting, start(func() error { return p.Do(bg, nothing) }))
			synctest.Wait()
		}
		is(t, p.Do(bg, nothing), ioerr.ErrOverloaded)
		down := start(p.Close)
		w := refusal(ioerr.Executor, ioerr.ErrShutdown)
		w.lane = laneName
		for _, c := range waiting {
			w.check(t, ended(t, c))
		}
		for _, c := range accepted {
			waits(t, c)
		}
		waits(t, down)
		full.open()
		for _, c := range accepted {
			succeeds(t, ended(t, c))
		}
		succeeds(t, ended(t, down))
	})
}

// Law: once the shutdown has begun, the answer to a call that did not run is
// ErrShutdown, also if its context ends after that.
func TestShutdownBeatsAContextThatEndsLater(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		full := fill(t, g, p)
		ctx, cancel := context.WithCancel(bg)
		late, stop := context.WithTimeout(bg, time.Minute)
		defer stop()
		first := start(func() error { return p.Do(ctx, nothing) })
		second := start(func() error { return p.Do(late, nothing) })
		waits(t, first)
		waits(t, second)
		down := start(p.Close)
		waits(t, down)
		cancel()
		is(t, ended(t, first), ioerr.ErrShutdown)
		time.Sleep(time.Minute)
		is(t, ended(t, second), ioerr.ErrShutdown)
		full.open()
		succeeds(t, ended(t, down))
	})
}

// Law: concurrent callers of Shutdown all wait for the same end.
func TestConcurrentShutdownsSeeTheSameEnd(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		broken := errors.New("broken")
		shop.fails = func(*thing) error { return broken }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		adopt(t, p, shop.make())
		busy := newGate()
		call := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		var downs []<-chan error
		for range 20 {
			downs = append(downs, start(p.Close))
		}
		short, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		one := start(func() error { return p.Shutdown(short) })
		for _, c := range downs {
			waits(t, c)
		}
		time.Sleep(time.Second)
		is(t, ended(t, one), context.DeadlineExceeded)
		for _, c := range downs {
			waits(t, c)
		}
		busy.open()
		succeeds(t, ended(t, call))
		downs = append(downs, start(p.Close))
		for _, c := range downs {
			err := ended(t, c)
			is(t, err, broken)
			if p.Stats().State != pool.Closed {
				t.Errorf("state %v", p.Stats().State)
			}
		}
	})
}

// Law: the end of ctx bounds the waiting only; another Shutdown finishes the job.
func TestSecondShutdownFinishesTheJob(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		adopt(t, p, shop.make())
		busy := newGate()
		call := start(func() error { return p.With(bg, id, with(busy.pass), pool.Label("stuck")) })
		busy.await(t, 1)
		for range 1000 {
			r, err := shutdownFor(t, p, time.Millisecond)
			want{ioerr.TimedOut, ioerr.Executor, ioerr.Unknown, context.DeadlineExceeded, noID, "", laneName}.check(t, err)
			if len(r.Running) != 1 || r.Running[0].Label != "stuck" || len(r.Undisposed) != 1 || r.Others != 0 {
				t.Fatalf("%+v", r)
			}
		}
		if made, disposed := shop.count(); made != 2 || disposed != 1 {
			t.Errorf("%d of %d disposed of, want the idle one", disposed, made)
		}
		down := start(p.Close)
		waits(t, down)
		busy.open()
		succeeds(t, ended(t, call))
		succeeds(t, ended(t, down))
		closes(t, p)
		shop.allBack()
	})
}

// Law: a dead context makes Shutdown wait for nothing, and begin all the same.
func TestShutdownWithADeadContext(t *testing.T) {
	dead, cancel := context.WithCancelCause(bg)
	cause := errors.New("cause")
	cancel(cause)
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		busy := newGate()
		call := start(func() error { return p.Do(bg, busy.pass) })
		busy.await(t, 1)
		err := p.Shutdown(dead)
		want{ioerr.Cancelled, ioerr.Executor, ioerr.Unknown, cause, noID, "", laneName}.check(t, err)
		is(t, p.Do(bg, nothing), ioerr.ErrShutdown)
		busy.open()
		succeeds(t, ended(t, call))
		succeeds(t, p.Shutdown(dead)) // there is nothing left to wait for
		if s := p.Stats().State; s != pool.Closed {
			t.Errorf("state %v", s)
		}
	})
}

// Law: Shutdown before the first call closes the pool for good.
func TestShutdownBeforeTheFirstCall(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		closes(t, p)
		is(t, p.Do(bg, nothing), ioerr.ErrShutdown)
		closes(t, p)
	})
}

// Law: from inside a call of the pool Shutdown is an error, not a deadlock, and
// changes nothing.
func TestShutdownFromInsideACall(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		other := makePool(t, pool.Config[int]{})
		id := adopt(t, p, 1)
		w := refusal(ioerr.Executor, ioerr.ErrReentry)
		w.lane = laneName
		inside := func(ctx context.Context) error {
			derived, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour)
			defer cancel()
			for _, ctx := range []context.Context{ctx, derived, bg, context.TODO()} {
				w.check(t, p.Shutdown(ctx))
			}
			w.check(t, p.Close())
			if s := p.Stats().State; s != pool.Open {
				t.Errorf("state %v", s)
			}
			return other.Do(ctx, func(ctx context.Context) error { w.check(t, p.Shutdown(ctx)); return nil })
		}
		succeeds(t, p.Do(bg, inside))
		succeeds(t, p.Do(t.Context(), inside))
		succeeds(t, p.With(bg, id, func(ctx context.Context, _ int) error { return inside(ctx) }))
		_, err := p.Register(bg, func(ctx context.Context) (int, error) { return 1, inside(ctx) })
		succeeds(t, err)
		_, err = pool.Scoped(bg, p, func(ctx context.Context) (int, error) { return 1, inside(ctx) },
			func(ctx context.Context, _ int) (int, error) { return 1, inside(ctx) }, nil)
		succeeds(t, err)
		// From a call of another pool it works.
		succeeds(t, other.Do(bg, func(ctx context.Context) error { return p.Shutdown(ctx) }))
		closes(t, p)
		closes(t, other)
	})
}

// Law: an owned lane is shut down with the pool, a shared one stays up.
func TestShutdownAndTheLane(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		if g.lane == nil {
			t.Skip("it is nobody else's")
		}
		p := on(g, pool.Config[int]{})
		closes(t, p)
		slot, err := g.lane.Enter(bg, lane.Call{})
		if g.shared {
			succeeds(t, err)
			g.lane.Leave(slot)
			succeeds(t, g.lane.Shutdown(bg))
		} else if err != ioerr.ErrShutdown {
			t.Errorf("an owned lane says %v", err)
		}
	})
}

// A lane that cannot be shut down is told, whatever it says.
type unwilling struct {
	lane.Lane
	err error
}

func (u unwilling) Shutdown(context.Context) error { return u.err }

func TestLaneThatDoesNotShutDownIsReported(t *testing.T) {
	broken := errors.New("broken")
	l, err := lane.NewThreads(lane.Config{Name: laneName})
	require.NoError(t, err)
	p := makePool(t, pool.Config[int]{Lane: unwilling{l, broken}, OwnsLane: true})
	for range 2 {
		want{ioerr.Failed, ioerr.Executor, ioerr.Unknown, broken, noID, "", laneName}.check(t, p.Close())
		if s := p.Stats().State; s != pool.Draining {
			t.Errorf("state %v", s)
		}
	}
}

// hooked is a context that runs a hook when it is asked for the first value.
type hooked struct {
	context.Context
	once sync.Once
	hook func()
}

func (h *hooked) Value(key any) any {
	h.once.Do(h.hook)
	return h.Context.Value(key)
}

// Once a shutdown has begun the answer is that, also of a full lane that refuses at once.
func TestShutdownBeatsAFullLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewThreads(lane.Config{Workers: 1, Queue: 1, Policy: lane.FailFast})
		require.NoError(t, err)
		p := makePool(t, pool.Config[int]{Lane: l})
		slot, err := l.Enter(bg, lane.Call{})
		require.NoError(t, err)
		queued := start(func() error {
			slot, err := l.Enter(bg, lane.Call{})
			l.Leave(slot)
			return err
		})
		waits(t, queued)
		var closed <-chan error
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		err = p.Do(&hooked{Context: ctx, hook: func() {
			closed = start(p.Close)
			time.Sleep(time.Second)
		}}, nothing)
		if e := typed(t, err); e.Outcome != ioerr.ShutdownInProgress {
			t.Errorf("%v", err)
		}
		l.Leave(slot)
		succeeds(t, <-queued)
		succeeds(t, <-closed)
		require.NoError(t, l.Shutdown(bg))
	})
}
