package lend_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lend"
)

// Law: what nobody has used for so long is closed, the oldest first, but not the last few.
func TestWhatIsIdleForLongIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 4, MinIdle: 1, IdleTime: time.Minute})
		synctest.Wait()
		require.EqualValues(t, 1, s.opened.Load()) // ahead of need
		var loans [4]lend.Loan[*thing]
		for i := range loans {
			loans[i] = borrow(t, l)
		}
		synctest.Wait()
		last, err := lend.Use(t.Context(), loans[3], func(_ context.Context, r *thing) (int64, error) { return r.number, nil })
		require.NoError(t, err)
		for i := range loans {
			require.NoError(t, loans[i].Return())
			time.Sleep(10 * time.Second)
		}
		require.Equal(t, 4, l.Stats().Idle)
		time.Sleep(20 * time.Second) // a minute after the first
		synctest.Wait()
		require.Equal(t, 3, l.Stats().Idle)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, l.Stats().Idle)
		time.Sleep(time.Hour)
		synctest.Wait()
		st := l.Stats()
		require.Equal(t, 1, st.Idle)
		require.EqualValues(t, 3, st.Closed.Idle)
		require.Equal(t, last, number(t, l))
	})
}

// Law: what has lived for so long is used no more; it is replaced if it is to be kept.
func TestWhatHasLivedForLongIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 2, MinIdle: 1, Lifetime: time.Minute})
		synctest.Wait()
		b := borrow(t, l)
		synctest.Wait()
		require.EqualValues(t, 2, s.opened.Load()) // in its place
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, s.closed.Load()) // of the two, the one that is idle
		require.NoError(t, b.With(t.Context(), nothing))
		require.NoError(t, b.Return())
		synctest.Wait()
		st := l.Stats()
		require.EqualValues(t, 2, st.Closed.Lifetime)
		require.Equal(t, 1, st.Idle)
		require.EqualValues(t, 3, number(t, l))
	})
}

// Law: those that were opened together are not all closed together.
func TestLifetimesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 50, MinIdle: 50, Lifetime: 1000 * time.Second})
		var mu sync.Mutex
		var times []time.Time
		synctest.Wait()
		s.leaves = func() {
			mu.Lock()
			defer mu.Unlock()
			times = append(times, time.Now())
		}
		require.Equal(t, 50, l.Stats().Idle)
		began := time.Now()
		time.Sleep(899 * time.Second)
		synctest.Wait()
		mu.Lock()
		require.Empty(t, times)
		mu.Unlock()
		time.Sleep(101 * time.Second)
		synctest.Wait()
		require.Len(t, times, 50)
		require.Greater(t, times[49].Sub(times[0]), 10*time.Second)
		require.LessOrEqual(t, times[49].Sub(began), 1000*time.Second)
	})
}

// Law: openings ahead of need that fail are repeated, later and later.
func TestOpeningsAheadThatFailAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		var tries atomic.Int64
		var works atomic.Bool
		s.before = func(context.Context) error {
			tries.Add(1)
			if works.Load() {
				return nil
			}
			return errIO
		}
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 3, MinIdle: 2})
		synctest.Wait()
		require.EqualValues(t, 2, tries.Load())
		time.Sleep(time.Hour)
		synctest.Wait()
		n := tries.Load()
		require.Greater(t, n, int64(60))
		require.Less(t, n, int64(2*80))
		works.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 2, l.Stats().Idle)
	})
}

// Law: one that is not fit for use is not lent, and those who wait get another one. It is not
// looked at more often than it has to be.
func TestWhatIsNotFitIsNotLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		var looks []int64
		var sick atomic.Int64
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 2, CheckAfter: time.Second, Check: func(ctx context.Context, r *thing) error {
			r.use(ctx)
			looks = append(looks, r.number)
			if r.number <= sick.Load() {
				return errIO
			}
			return nil
		}})
		require.EqualValues(t, 1, number(t, l))
		time.Sleep(time.Second - 1)
		require.EqualValues(t, 1, number(t, l))
		require.Empty(t, looks)
		time.Sleep(time.Second)
		require.EqualValues(t, 1, number(t, l))
		require.Equal(t, []int64{1}, looks)
		sick.Store(1)
		time.Sleep(time.Second)
		require.EqualValues(t, 2, number(t, l))
		time.Sleep(time.Second)
		sick.Store(2)
		b := borrow(t, l)
		n, err := lend.Use(t.Context(), b, func(_ context.Context, r *thing) (int64, error) { return r.number, nil })
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
		require.NoError(t, b.Return())
		require.Equal(t, []int64{1, 1, 2}, looks)
		require.EqualValues(t, 2, l.Stats().Closed.Check)
	})
}

// Law: after a call that failed a resource is not trusted, however lately it was used; and a
// check has as much time as it is given.
func TestNoTrustAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		looks := 0
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, CheckAfter: time.Hour, CheckWithin: time.Second, Check: func(ctx context.Context, _ *thing) error {
			if looks++; looks == 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}})
		require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { return errIO }), errIO)
		require.EqualValues(t, 1, number(t, l))
		require.EqualValues(t, 1, number(t, l))
		require.Equal(t, 1, looks)
		require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { return errIO }), errIO)
		began := time.Now()
		require.EqualValues(t, 2, number(t, l))
		require.Equal(t, time.Second, time.Since(began))
	})
}

// Law: a check that panics is an error of the caller, and its resource is not lent again.
func TestACheckThatPanics(t *testing.T) {
	var s shop
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, Check: func(context.Context, *thing) error { panic(errIO) }})
	for range 2 {
		number(t, l)
		require.ErrorIs(t, l.With(t.Context(), nothing), errIO)
		number(t, l)
		_, err := l.Borrow(t.Context())
		require.ErrorIs(t, err, errIO)
	}
	require.EqualValues(t, 4, l.Stats().Closed.Broken)
}
