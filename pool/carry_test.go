package pool_test

import (
	"context"
	"errors"
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
