package pool_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a call of a batch that is left before it has begun is still itself when it begins, and
// not the one that has its slot by then.
func TestACallThatWasLeftIsNotTheNextInItsSlot(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // then what is started last runs first, and leaves what has not begun
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 1000}, Grace: lane.NoGrace})
	require.NoError(t, err)
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	require.NoError(t, err)
	b, err := pool.NewBatch[int](t.Context(), p, 1)
	require.NoError(t, err)
	const calls = 500
	var ran [calls]atomic.Int32
	left := 0
	for i := range calls {
		_, err := b.Add(func(context.Context) (int, error) { ran[i].Add(1); return i, nil })
		require.NoError(t, err)
		b.Cancel()
		r, ok := b.Next()
		require.True(t, ok)
		if r.Err != nil {
			left++
		} else {
			require.Equal(t, i, r.Value)
		}
	}
	require.Positive(t, left)
	require.NoError(t, p.Close())
	for i := range ran {
		require.EqualValues(t, 1, ran[i].Load(), "call %d", i)
	}
}

// Law: the limit of a call is told to its caller, also if his context panics when that of the
// call is ended by it.
func TestAContextThatPanicsAtTheLimitOfItsCall(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 2}, CallLimit: 1, Grace: lane.NoGrace})
	require.NoError(t, err)
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	require.NoError(t, err)
	for _, asked := range []bool{false, true} { // the call has asked its context for something before
		var armed atomic.Bool
		ctx := valued{t.Context(), func() {
			if armed.Load() {
				panic("Value")
			}
		}}
		gate := make(chan struct{})
		_, err := pool.Offload(ctx, p, func(ctx context.Context) (int, error) {
			if asked {
				_ = ctx.Done()
			}
			armed.Store(true)
			<-gate
			return 0, nil
		})
		require.ErrorIs(t, err, ioerr.ErrCallLimit)
		close(gate)
	}
	require.NoError(t, p.Close())
}
