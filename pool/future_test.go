package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// ofWorkers makes a pool of calls on so many slots, closed at the end of the test.
func ofWorkers(t testing.TB, c lane.Config) *pool.Pool[struct{}] {
	t.Helper()
	p, err := pool.New(pool.Config[struct{}]{Threads: c})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// block returns a call that runs until the gate is closed, and a channel that says that it
// runs.
func block(gate <-chan struct{}) (call func(context.Context) (int, error), running chan struct{}) {
	running = make(chan struct{}, 1)
	return func(context.Context) (int, error) {
		running <- struct{}{}
		<-gate
		return 7, nil
	}, running
}

// Law: a call that was started with Async runs beside its caller, and everybody who waits
// for it gets its result.
func TestAsyncRunsBesideItsCallerAndTellsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 1})
		gate := make(chan struct{})
		call, running := block(gate)
		f := pool.Async(t.Context(), p, call)
		<-running
		select {
		case <-f.Done():
			t.Fatal("ended")
		default:
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				v, err := f.Await(t.Context())
				require.NoError(t, err)
				require.Equal(t, 7, v)
			})
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		require.Zero(t, p.Stats().Lane.Running)
	})
}

// Law: Async is not refused for lack of room: it waits past all bounds of the queue.
func TestAsyncIsNeverRefusedForLackOfRoom(t *testing.T) {
	for _, policy := range []lane.Policy{lane.Wait, lane.FailFast} {
		synctest.Test(t, func(t *testing.T) {
			p := ofWorkers(t, lane.Config{Workers: 1, Queue: 1, Waiters: 1, Policy: policy})
			gate := make(chan struct{})
			call, running := block(gate)
			first := pool.Async(t.Context(), p, call)
			<-running
			var order []int
			var futures [9]*pool.Future[int]
			var all sync.WaitGroup
			for i := range futures {
				all.Go(func() {
					futures[i] = pool.Async(t.Context(), p, func(context.Context) (int, error) {
						order = append(order, i) // one slot
						return i, nil
					}, pool.FailFast)
				})
				synctest.Wait()
			}
			close(gate)
			all.Wait()
			for i, f := range futures {
				v, err := f.Await(t.Context())
				require.NoError(t, err)
				require.Equal(t, i, v)
			}
			require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, order)
			_, err := first.Await(t.Context())
			require.NoError(t, err)
		})
	}
}

// Law: so it is on every lane.
func TestAsyncWaitsPastAllBoundsOnEveryLane(t *testing.T) {
	c := lane.Config{Workers: 1, Queue: 1, Waiters: 1, Policy: lane.FailFast}
	everyLane(t, c, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		gate := make(chan struct{})
		call, running := block(gate)
		futures := make([]*pool.Future[int], 10)
		futures[0] = pool.Async(t.Context(), p, call)
		<-running
		var all sync.WaitGroup
		for i := range futures[1:] {
			all.Go(func() {
				futures[1+i] = pool.Async(t.Context(), p, func(context.Context) (int, error) { return 7, nil })
			})
		}
		for p.Stats().Lane.Waiting+p.Stats().Lane.Queued < 9 {
			runtime.Gosched()
		}
		_, err = pool.Offload(t.Context(), p, call) // others are
		require.ErrorIs(t, err, ioerr.ErrQueueFull)
		close(gate)
		all.Wait()
		for _, f := range futures {
			v, err := f.Await(t.Context())
			require.NoError(t, err)
			require.Equal(t, 7, v)
		}
		require.NoError(t, p.Close())
	})
}

// Law: from inside a call of a full lane Async runs in its caller, however deep: no
// deadlock.
func TestAsyncInsideAFullLaneRunsInItsCaller(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	var fibonacci func(ctx context.Context, n int) (int, error)
	fibonacci = func(ctx context.Context, n int) (int, error) {
		if n < 2 {
			return n, nil
		}
		f := pool.Async(ctx, p, func(ctx context.Context) (int, error) { return fibonacci(ctx, n-1) })
		b, err := fibonacci(ctx, n-2)
		if err != nil {
			return 0, err
		}
		a, err := f.Await(ctx)
		return a + b, err
	}
	v, err := pool.Run(t.Context(), p, func(ctx context.Context) (int, error) { return fibonacci(ctx, 12) })
	require.NoError(t, err)
	require.Equal(t, 144, v)
	require.Zero(t, p.Stats().Failed)
}

// Law: Concurrent runs beside its caller or says that it cannot, and whether that may pass.
func TestConcurrentRunsBesideItsCallerOrNotAtAll(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	gate := make(chan struct{})
	call, running := block(gate)
	f, err := pool.Concurrent(t.Context(), p, call)
	require.NoError(t, err)
	<-running
	_, err = pool.Concurrent(t.Context(), p, call, pool.Label("second"))
	require.ErrorIs(t, err, ioerr.ErrConcurrencyUnavailable)
	why, ok := errors.AsType[*ioerr.ConcurrencyError](err)
	require.True(t, ok)
	require.True(t, why.Temporary)
	e, _ := errors.AsType[*ioerr.Error](err)
	require.Equal(t, ioerr.None, e.Effect)
	require.Equal(t, "second", e.Label)
	close(gate)
	_, err = f.Await(t.Context())
	require.NoError(t, err)

	inline, err := pool.New(pool.Config[struct{}]{Lane: lane.NewInline(""), OwnsLane: true})
	require.NoError(t, err)
	_, err = pool.Concurrent(t.Context(), inline, call)
	why, ok = errors.AsType[*ioerr.ConcurrencyError](err)
	require.True(t, ok)
	require.False(t, why.Temporary)
	require.NoError(t, inline.Close())
}

// Law: Cancel ends the context of the call, waits for the call, and hands its result back:
// what the call has opened is not lost.
func TestCancelHandsTheResultBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 1})
		f := pool.Async(t.Context(), p, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // it has been opened by now
			return "opened", nil
		})
		v, err := f.Cancel()
		require.NoError(t, err)
		require.Equal(t, "opened", v)
		v, err = f.Cancel()
		require.NoError(t, err)
		require.Equal(t, "opened", v)
	})
}

// Law: who does not wait any longer is told that the call goes on, and can have its result
// later.
func TestAwaitThatEndsEarlyLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 1})
		gate := make(chan struct{})
		call, _ := block(gate)
		f := pool.Async(t.Context(), p, call)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Await(ctx)
		e, ok := errors.AsType[*ioerr.Error](err)
		require.True(t, ok)
		require.Equal(t, ioerr.TimedOut, e.Outcome)
		require.Equal(t, ioerr.Unknown, e.Effect)
		close(gate)
		v, err := f.Await(t.Context())
		require.NoError(t, err)
		require.Equal(t, 7, v)
		v, err = f.Await(ctx) // what is there is had also with a dead context
		require.NoError(t, err)
		require.Equal(t, 7, v)
	})
}

// Law: a call that ends in any way ends its Future, with a typed error, and gives everything
// back.
func TestAFutureEndsHoweverItsCallDoes(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		own := errors.New("own")
		for name, c := range map[string]struct {
			fn   func(context.Context) (int, error)
			want error
		}{
			"error":  {func(context.Context) (int, error) { return 1, own }, own},
			"panic":  {func(context.Context) (int, error) { panic(own) }, own},
			"goexit": {func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, ioerr.ErrGoexit},
		} {
			f := pool.Async(t.Context(), p, c.fn, pool.Label(name))
			_, err := f.Await(t.Context())
			require.ErrorIs(t, err, c.want, name)
			e, ok := errors.AsType[*ioerr.Error](err)
			require.True(t, ok)
			require.Equal(t, ioerr.Done, e.Effect, name)
			require.Equal(t, name, e.Label)
		}
		require.NoError(t, p.Close())
		require.Zero(t, p.Stats().Lane.Running)
	})
}

// each runs a test on each kind of lane, with two slots.
func each(t *testing.T, test func(*testing.T, lane.Lane)) {
	t.Helper()
	everyLane(t, lane.Config{Workers: 2}, test)
	t.Run("Inline", func(t *testing.T) { test(t, lane.NewInline("")) })
}

// everyLane runs a test on each kind of lane that has slots.
func everyLane(t *testing.T, c lane.Config, test func(*testing.T, lane.Lane)) {
	t.Helper()
	lanes := map[string]func() (lane.Lane, error){
		"Threads": func() (lane.Lane, error) { return lane.NewThreads(c) },
		"Sharded": func() (lane.Lane, error) {
			return lane.NewSharded(lane.ShardedConfig{Config: c, Shards: c.Workers})
		},
		"Abandoning": func() (lane.Lane, error) { return lane.NewAbandoning(lane.AbandoningConfig{Config: c}) },
		"Pinned":     func() (lane.Lane, error) { return lane.NewPinned(lane.PinnedConfig{Config: c}) },
		"Ring":       func() (lane.Lane, error) { return lane.NewRing(lane.RingConfig{Config: c, Threads: c.Workers}) },
	}
	for name, newLane := range lanes {
		t.Run(name, func(t *testing.T) {
			l, err := newLane()
			require.NoError(t, err)
			test(t, l)
		})
	}
}

// Law: a refused Future tells so at once, and the call never runs.
func TestARefusedFutureTellsSo(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	var ran atomic.Bool
	call := func(context.Context) (int, error) { ran.Store(true); return 0, nil }
	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cause")
	cancel(cause)
	_, err := pool.Async(ended, p, call).Await(t.Context())
	require.ErrorIs(t, err, cause)
	var none context.Context
	_, err = pool.Async(none, p, call).Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = pool.Async[int](t.Context(), p, nil).Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = pool.Async(t.Context(), p, call, pool.Undo(func(string) error { return nil })).Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = pool.Async(t.Context(), (*pool.Pool[struct{}])(nil), call).Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = new(pool.Future[int]).Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = new(pool.Future[int]).Cancel()
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	closed := ofWorkers(t, lane.Config{Workers: 1})
	require.NoError(t, closed.Close())
	_, err = pool.Async(t.Context(), closed, call).Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrShutdown)
	_, err = pool.Concurrent(t.Context(), closed, call)
	require.ErrorIs(t, err, ioerr.ErrShutdown)
	require.False(t, ran.Load())
}

// Law: cancellation and completion race; whichever wins, the result is told once, and is
// either the value or the cause.
func TestCancelRacesCompletion(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 2})
	var opened, closed atomic.Int64
	for range 2000 {
		f := pool.Async(t.Context(), p, func(ctx context.Context) (bool, error) {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			opened.Add(1)
			return true, nil
		})
		v, err := f.Cancel()
		if v {
			closed.Add(1)
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Equal(t, opened.Load(), closed.Load())
}

// Law: a context that panics does so in whoever has started the call, also where a goroutine
// waits for that.
func TestAContextThatPanicsDoesSoInTheStarter(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		for after := range 12 { // questions that it answers before
			n := 0
			ctx := valued{t.Context(), func() {
				if n++; n > after {
					panic("Value")
				}
			}}
			call := func(context.Context) (int, error) { return 0, nil }
			func() {
				defer func() { _ = recover() }()
				_, _ = pool.Async(ctx, p, call).Await(t.Context())
			}()
			g, err := p.Group(pool.GroupConfig{Limit: 1})
			require.NoError(t, err)
			for range 3 { // whatever one of them holds the next one needs
				n = 0
				func() {
					defer func() { _ = recover() }()
					_ = g.Go(ctx, func(context.Context) error { return nil })
				}()
				_ = g.Wait(t.Context())
				n = 0
				func() {
					defer func() { _ = recover() }()
					_ = g.After(ctx, 0, func(context.Context) error { return nil })
				}()
				_ = g.Wait(t.Context())
			}
		}
		require.NoError(t, p.Close())
		require.Zero(t, p.Stats().Lane.Running)
	})
}
