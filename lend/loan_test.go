package lend_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lend"
)

// Law: a loan is the same resource for all its calls, and nobody else's, until it is returned;
// after that it is nothing, however often one tries.
func TestALoanIsOnesOwnUntilItIsReturned(t *testing.T) {
	var s shop
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 2})
	b := borrow(t, l)
	again := b
	for range 3 {
		n, err := lend.Use(t.Context(), b, func(ctx context.Context, r *thing) (int64, error) { r.use(ctx); return r.number, nil })
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		require.EqualValues(t, 2, number(t, l))
	}
	require.NoError(t, b.Return())
	for _, stale := range []lend.Loan[*thing]{b, again} {
		refused(t, stale.Return(), ioerr.ErrReturned, ioerr.Failed)
		refused(t, stale.Discard(), ioerr.ErrReturned, ioerr.Failed)
		refused(t, stale.With(t.Context(), nothing), ioerr.ErrReturned, ioerr.Failed)
	}
	next := borrow(t, l)
	refused(t, b.Return(), ioerr.ErrReturned, ioerr.Failed)
	require.NoError(t, next.With(t.Context(), nothing))
	require.Equal(t, 1, l.Stats().Lent)
	require.NoError(t, next.Return())
}

// Law: of those who return one loan at once, one succeeds.
func TestALoanIsReturnedOnce(t *testing.T) {
	var s shop
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
	for range 200 {
		b := borrow(t, l)
		var returned atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if b.Return() == nil {
					returned.Add(1)
				}
			})
			all.Go(func() {
				ours, err := l.Borrow(t.Context())
				if err == nil {
					require.NoError(t, ours.With(t.Context(), func(ctx context.Context, r *thing) error { r.use(ctx); return nil }))
					require.NoError(t, ours.Return())
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, returned.Load())
	}
	require.EqualValues(t, 1, s.opened.Load())
}

// Law: a call with a loan that is returned before the call begins does not run: what it would
// use is somebody else's.
func TestACallWithALoanThatIsReturnedMeanwhileDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
		b := borrow(t, l)
		gate := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			require.NoError(t, b.With(t.Context(), func(context.Context, *thing) error { <-gate; return nil }))
		})
		synctest.Wait()
		all.Go(func() { // waits for the one before
			refused(t, b.With(t.Context(), func(context.Context, *thing) error { t.Error("runs"); return nil }), ioerr.ErrReturned, ioerr.Failed)
		})
		synctest.Wait()
		require.NoError(t, b.Return()) // while the first runs
		all.Go(func() {
			require.NoError(t, l.With(t.Context(), func(context.Context, *thing) error {
				select {
				case <-gate:
				default:
					t.Error("does not wait for the one that runs")
				}
				return nil
			}))
		})
		synctest.Wait()
		close(gate)
		all.Wait()
	})
}

// Law: what a call has broken that outlasts its loan is not lent again, neither to who waits
// for that call nor to who comes later.
func TestACallThatOutlastsItsLoanMayBreakWhatWasLent(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var s shop
			l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
			b := borrow(t, l)
			gate := make(chan struct{})
			var all sync.WaitGroup
			all.Go(func() {
				require.ErrorIs(t, b.With(t.Context(), func(context.Context, *thing) error { <-gate; panic(errIO) }), errIO)
			})
			synctest.Wait()
			require.NoError(t, b.Return())
			if waits {
				all.Go(func() { require.EqualValues(t, 2, number(t, l)) })
				synctest.Wait()
			}
			close(gate)
			all.Wait()
			require.EqualValues(t, 2, number(t, l))
		})
	}
}

// Law: a call with a loan that is over does not run since the loan is, also if what was lent
// is closed.
func TestACallWithALoanThatIsDiscardedMeanwhileDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
		b := borrow(t, l)
		gate := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			require.NoError(t, b.With(t.Context(), func(context.Context, *thing) error { <-gate; return nil }))
		})
		synctest.Wait()
		all.Go(func() { refused(t, b.With(t.Context(), nothing), ioerr.ErrReturned, ioerr.Failed) })
		synctest.Wait()
		require.NoError(t, b.Discard())
		synctest.Wait()
		close(gate)
		all.Wait()
	})
}
