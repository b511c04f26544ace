package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// withoutAThread makes a pool on so many threads of which one has been tainted. The one that
// replaces it starts when the gate is opened, with what comes out of that.
func withoutAThread(t *testing.T, threads int) (p *pool.Pool[struct{}], gate chan error) {
	t.Helper()
	gate = make(chan error, 1)
	var starts atomic.Int32
	l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Workers: threads}, Start: func(int) error {
		if int(starts.Add(1)) <= threads {
			return nil
		}
		return <-gate
	}})
	require.NoError(t, err)
	p, err = pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	require.NoError(t, err)
	t.Cleanup(func() {
		close(gate)
		require.NoError(t, p.Close())
	})
	require.NoError(t, p.Offload(t.Context(), func(ctx context.Context) error {
		on, _ := lane.ThreadOf(ctx)
		on.Taint()
		return nil
	}))
	return p, gate
}

// Law: whoever starts calls on a lane that runs them itself waits for their slots, and not
// for the lane to come to them.
func TestAStartWaitsForTheSlotAndNotForTheThread(t *testing.T) {
	p, gate := withoutAThread(t, 1)
	g, err := p.Group(pool.GroupConfig{})
	require.NoError(t, err)
	ran := make(chan struct{})
	require.NoError(t, g.Go(t.Context(), func(context.Context) error { close(ran); return nil }))
	select {
	case <-ran:
		t.Fatal("there is no thread")
	default:
	}
	require.Equal(t, 1, p.Stats().Lane.Running)
	gate <- nil
	require.NoError(t, g.Wait(t.Context()))
	<-ran
}

// Law: if there will be no thread for a call that was started, it is refused all the same.
func TestACallThatWasStartedAndFindsNoThreadIsRefused(t *testing.T) {
	p, gate := withoutAThread(t, 1)
	f := pool.Async(t.Context(), p, func(context.Context) (int, error) { t.Error("ran"); return 7, nil }, pool.Label("lost"))
	gate <- errIO
	v, err := f.Await(t.Context())
	require.Zero(t, v)
	require.ErrorIs(t, err, errIO)
	_, ok := errors.AsType[*ioerr.StartError](err)
	require.True(t, ok)
	e, _ := errors.AsType[*ioerr.Error](err)
	require.Equal(t, ioerr.None, e.Effect)
	require.Equal(t, "lost", e.Label)
	s := p.Stats().Lane
	require.Equal(t, uint64(1), s.Dropped)
	require.Zero(t, s.Running)
}

// Law: who must not wait for a thread is not kept waiting for one that may never be.
func TestACallBesideItsCallerNeedsAThread(t *testing.T) {
	p, gate := withoutAThread(t, 2)
	seven := func(context.Context) (int, error) { return 7, nil }
	require.NoError(t, p.Offload(t.Context(), func(ctx context.Context) error {
		_, err := pool.Concurrent(ctx, p, seven)
		require.ErrorIs(t, err, ioerr.ErrConcurrencyUnavailable)
		v, err := pool.Async(ctx, p, seven).Await(ctx) // runs here
		require.Equal(t, 7, v)
		return err
	}))
	require.Equal(t, uint64(2), p.Stats().Lane.Refused.Reentry)
	gate <- nil
}

// Law: a call that was started runs, whatever becomes of its context and of other calls, and
// is told of; and nothing is occupied in the end.
func TestStartedCallsAreNeverLost(t *testing.T) {
	everyLane(t, lane.Config{Workers: 3, Queue: 4}, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		var all sync.WaitGroup
		var told, ran atomic.Int32
		const callers, each = 8, 60
		for k := range callers {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(k), 7))
				var calls []*pool.Future[int]
				var began [each]atomic.Bool
				for i := range each {
					ctx, cancel := context.WithCancel(t.Context())
					calls = append(calls, pool.Async(ctx, p, func(ctx context.Context) (int, error) {
						began[i].Store(true)
						ran.Add(1)
						return i, misbehave(ctx, (k+i)%5)
					}))
					if random.IntN(3) == 0 {
						defer cancel()
					} else {
						cancel()
					}
				}
				for i, f := range calls {
					v, err := f.Await(t.Context())
					told.Add(1)
					e, refused := errors.AsType[*ioerr.Error](err)
					refused = refused && e.Effect == ioerr.None
					if refused || !began[i].Load() || err == nil && v != i {
						t.Errorf("call %d: %v, and it ran: %v", i, err, began[i].Load())
					}
				}
			})
		}
		all.Wait()
		require.NoError(t, p.Close())
		require.EqualValues(t, callers*each, told.Load())
		require.Zero(t, p.Stats().Lane.Running)
		require.EqualValues(t, callers*each, ran.Load())
	})
}

// fickle is a user's carrier that has a slot for a call, and then no thread.
type fickle struct{ *minimal }

func (l fickle) Carry(context.Context, lane.Call, lane.Task) error { return ioerr.ErrReentry }

func (l fickle) GiveUp(uint64, error) {}

func (l fickle) Start(context.Context, lane.Call, lane.Task) (lane.Started, error) { return l, nil }

func (l fickle) Wait() error { return ioerr.ErrReentry }

// Law: so it is told like any refusal, whatever the lane says.
func TestALateRefusalIsToldLikeAnyOther(t *testing.T) {
	p, err := pool.New(pool.Config[struct{}]{Lane: fickle{newMinimal("fickle", 1)}, OwnsLane: true})
	require.NoError(t, err)
	f, err := pool.Concurrent(t.Context(), p, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	_, err = f.Await(t.Context())
	require.ErrorIs(t, err, ioerr.ErrReentry)
	e, ok := errors.AsType[*ioerr.Error](err)
	require.True(t, ok)
	require.Equal(t, ioerr.None, e.Effect)
	require.NoError(t, p.Close())
}

// misbehave ends a call in one of several ways.
func misbehave(ctx context.Context, how int) error {
	switch how {
	case 0:
		if on, ok := lane.ThreadOf(ctx); ok {
			on.Taint()
		}
	case 1:
		runtime.Goexit()
	case 2:
		panic("call")
	case 3:
		return errIO
	}
	return nil
}
