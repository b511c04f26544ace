package pool_test

import (
	"context"
	"errors"
	"runtime"
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

// counter is a resource that calls count with.
type counter struct{ n int }

func add(k int) func(context.Context, *counter) (int, error) {
	return func(_ context.Context, c *counter) (int, error) { c.n += k; return c.n, nil }
}

func failsOn(err error) func(context.Context, *counter) (int, error) {
	return func(context.Context, *counter) (int, error) { return 0, err }
}

var errThread = errors.New("thread")

func batchOn(t testing.TB, l lane.Lane, size int) (*pool.BatchOn[int, *counter], *pool.Pool[*counter], handle.ID) {
	t.Helper()
	p, err := pool.New(pool.Config[*counter]{Lane: l, OwnsLane: l != nil, HookWithin: time.Second})
	require.NoError(t, err)
	id := adopt(t, p, new(counter))
	b, err := pool.NewBatchOn[int](p, id, size)
	require.NoError(t, err)
	return b, p, id
}

// results takes all that are ready, by slot.
func results(t testing.TB, b *pool.BatchOn[int, *counter]) []pool.Result[int] {
	t.Helper()
	var all []pool.Result[int]
	for r, ok := b.Next(); ok; r, ok = b.Next() {
		all = append(all, r)
	}
	return all
}

// Law: the calls of a batch on one handle are one transaction of the lane, in order, on every
// lane; and it can be used again.
func TestABatchOnAHandleIsOneTransaction(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		b, p, _ := batchOn(t, l, 5)
		sum := 0
		for range 3 {
			before := p.Stats().Lane.Submitted
			var slots []int
			for k := range 5 {
				slot, err := b.Add(add(k))
				require.NoError(t, err)
				slots = append(slots, slot)
			}
			_, err := b.Add(add(1))
			require.ErrorIs(t, err, ioerr.ErrBatchFull)
			n, err := b.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, 5, n)
			for k, r := range results(t, b) {
				sum += k
				require.Equal(t, pool.Result[int]{Slot: slots[k], Value: sum}, r)
			}
			require.EqualValues(t, 1, p.Stats().Lane.Submitted-before)
		}
		n, err := b.Run(t.Context()) // nothing
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, p.Close())
		_, err = b.Run(t.Context())
		require.ErrorIs(t, err, ioerr.ErrShutdown)
	})
}

// Law: a call fails alone, by an error or a panic, and is told with label and handle.
func TestACallOfABatchOnAHandleFailsAlone(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		b, p, id := batchOn(t, l, 6)
		other := errors.New("other")
		for _, fn := range []func(context.Context, *counter) (int, error){
			add(1), failsOn(errIO), add(2), func(context.Context, *counter) (int, error) { panic("x") }, failsOn(other), add(4),
		} {
			_, err := b.Add(fn)
			require.NoError(t, err)
		}
		failed := p.Stats().Failed
		_, err := b.Run(t.Context(), pool.Label("batch"))
		require.NoError(t, err)
		all := results(t, b)
		require.Len(t, all, 6)
		require.Equal(t, []int{1, 0, 3, 0, 0, 7}, []int{all[0].Value, all[1].Value, all[2].Value, all[3].Value, all[4].Value, all[5].Value})
		require.ErrorIs(t, all[1].Err, errIO)
		e, _ := errors.AsType[*ioerr.Error](all[1].Err)
		require.Equal(t, ioerr.Done, e.Effect)
		require.Equal(t, id, e.Handle)
		require.Equal(t, "batch", e.Label)
		_, panicked := errors.AsType[*ioerr.PanicError](all[3].Err)
		require.True(t, panicked)
		require.ErrorIs(t, all[4].Err, other)
		require.EqualValues(t, 3, p.Stats().Failed-failed)
		require.NoError(t, p.Close())
	})
}

// Law: after one that has poisoned the resource, or when the context has ended, none begins, and
// each is told why.
func TestABatchOnAHandleStops(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		b, p, id := batchOn(t, l, 4)
		for _, fn := range []func(context.Context, *counter) (int, error){failsOn(errors.New("small")), failsOn(pool.Poison(errIO)), add(1), add(1)} {
			_, err := b.Add(fn)
			require.NoError(t, err)
		}
		_, err := b.Run(t.Context())
		require.NoError(t, err)
		all := results(t, b)
		require.ErrorIs(t, all[1].Err, errIO)
		for _, r := range all[2:] {
			refusedWith(t, r.Err, ioerr.ErrPoisoned)
		}
		require.Equal(t, pool.Poisoned, p.Health(id))
		_, err = b.Add(add(1))
		require.NoError(t, err)
		_, err = b.Run(t.Context())
		refusedWith(t, err, ioerr.ErrPoisoned)
		require.Empty(t, results(t, b))
		require.NoError(t, p.Replace(t.Context(), id, func(context.Context, *counter) (*counter, error) { return new(counter), nil }))
		n, err := b.Run(t.Context()) // it is still noted
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, 1, results(t, b)[0].Value)

		ctx, cancel := context.WithCancelCause(t.Context())
		_, err = b.Add(func(context.Context, *counter) (int, error) { cancel(errIO); return 5, nil })
		require.NoError(t, err)
		_, err = b.Add(add(1))
		require.NoError(t, err)
		_, err = b.Run(ctx)
		if err == nil { // else it was left on a lane where that can be
			all = results(t, b)
			require.Equal(t, 5, all[0].Value)
			refusedWith(t, all[1].Err, errIO)
		}
		require.NoError(t, p.Close())
	})
}

func refusedWith(t testing.TB, err, why error) {
	t.Helper()
	require.ErrorIs(t, err, why)
	e, _ := errors.AsType[*ioerr.Error](err)
	require.Equal(t, ioerr.None, e.Effect)
}

// Law: if a call ends its goroutine, those before it have results, and those after it are still
// noted.
func TestABatchOnAHandleWhoseGoroutineEnds(t *testing.T) {
	b, p, _ := batchOn(t, nil, 4)
	for _, fn := range []func(context.Context, *counter) (int, error){
		failsOn(errIO), func(context.Context, *counter) (int, error) { runtime.Goexit(); return 0, nil }, add(3),
	} {
		_, err := b.Add(fn)
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	all.Go(func() { _, _ = b.Run(t.Context()) })
	all.Wait()
	rs := results(t, b)
	require.Len(t, rs, 2)
	require.ErrorIs(t, rs[0].Err, errIO)
	require.ErrorIs(t, rs[1].Err, ioerr.ErrGoexit)
	n, err := b.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 3, results(t, b)[0].Value)
	require.NoError(t, p.Close())
}

// Law: a call may add others, and take results, but not run them.
func TestABatchOnAHandleInsideItself(t *testing.T) {
	b, p, _ := batchOn(t, nil, 4)
	_, err := b.Add(add(1))
	require.NoError(t, err)
	_, err = b.Add(func(ctx context.Context, c *counter) (int, error) {
		_, err := b.Run(ctx)
		refusedWith(t, err, ioerr.ErrReentry)
		_, err = b.Add(add(10))
		require.NoError(t, err)
		_, ok := b.Next()
		require.False(t, ok)
		c.n++
		return c.n, nil
	})
	require.NoError(t, err)
	n, err := b.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	rs := results(t, b)
	require.Equal(t, []int{1, 2}, []int{rs[0].Value, rs[1].Value})
	n, err = b.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 12, results(t, b)[0].Value)
	require.NoError(t, p.Close())
}

// Law: a thread that cannot be put back is told of, whatever the calls say.
func TestABatchOnAHandleThatSpoilsItsThread(t *testing.T) {
	for _, own := range []error{nil, errIO} {
		l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Workers: 1}})
		require.NoError(t, err)
		b, p, _ := batchOn(t, l, 2)
		_, err = b.Add(func(ctx context.Context, _ *counter) (int, error) {
			on, _ := lane.ThreadOf(ctx)
			on.Restore(func() error { return errThread })
			return 7, own
		})
		require.NoError(t, err)
		n, err := b.Run(t.Context())
		require.Equal(t, 1, n)
		_, ok := errors.AsType[*ioerr.RestoreError](err)
		require.True(t, ok)
		require.ErrorIs(t, err, errThread)
		r := results(t, b)[0]
		require.Equal(t, 7, r.Value)
		require.ErrorIs(t, r.Err, own)
		require.NoError(t, p.Close())
	}
}

// Law: of a transaction that was left each call is told so, and the batch is as new.
func TestABatchOnAHandleThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 2}, Grace: lane.NoGrace})
		require.NoError(t, err)
		b, p, _ := batchOn(t, l, 2)
		_, err = b.Add(func(context.Context, *counter) (int, error) { time.Sleep(time.Minute); return 1, nil })
		require.NoError(t, err)
		_, err = b.Add(add(1))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n, err := b.Run(ctx)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		for _, r := range results(t, b) {
			require.ErrorIs(t, r.Err, ioerr.ErrLeft)
		}
		time.Sleep(2 * time.Minute)
		_, err = b.Add(add(1))
		require.NoError(t, err)
		n, err = b.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Len(t, results(t, b), 1)
		require.NoError(t, p.Close())
	})
}

// Law: a call of a batch on a handle costs no allocation.
func TestABatchOnAHandleDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	b, p, _ := batchOn(t, nil, 64)
	one := add(1)
	allocs := testing.AllocsPerRun(100, func() {
		for range 64 {
			if _, err := b.Add(one); err != nil {
				t.Error(err)
			}
		}
		if n, err := b.Run(context.Background()); n != 64 || err != nil {
			t.Error(n, err)
		}
		for range 64 {
			b.Next()
		}
	})
	require.Zero(t, allocs)
	require.NoError(t, p.Close())
}

// Law: what cannot be is refused by name.
func TestBatchesOnHandlesRefuseBadInput(t *testing.T) {
	b, p, id := batchOn(t, nil, 1)
	_, err := pool.NewBatchOn[int](p, id, 0)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = pool.NewBatchOn[int, *counter](nil, id, 1)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = b.Add(nil)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	var none context.Context
	_, err = b.Run(none)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	for _, b := range []*pool.BatchOn[int, *counter]{nil, {}} {
		_, err = b.Add(add(1))
		require.ErrorIs(t, err, ioerr.ErrInvalid)
		_, err = b.Run(t.Context())
		require.ErrorIs(t, err, ioerr.ErrInvalid)
		_, ok := b.Next()
		require.False(t, ok)
	}
	lost, err := pool.NewBatchOn[int](p, handle.ID{}, 1)
	require.NoError(t, err)
	_, err = lost.Add(add(1))
	require.NoError(t, err)
	_, err = lost.Run(t.Context())
	refusedWith(t, err, ioerr.ErrHandleNotFound)
	require.NoError(t, p.Close())
}
