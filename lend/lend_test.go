package lend_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// Law: resources are opened only when they are needed, and the one that was used last is lent
// next.
func TestTheOneThatWasUsedLastIsLentNext(t *testing.T) {
	var s shop
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 3})
	require.Zero(t, s.opened.Load())
	require.EqualValues(t, 1, number(t, l))
	require.EqualValues(t, 1, number(t, l))
	first, second := borrow(t, l), borrow(t, l)
	require.EqualValues(t, 3, number(t, l))
	require.NoError(t, first.Return())
	require.EqualValues(t, 1, number(t, l))
	require.NoError(t, second.Return())
	require.EqualValues(t, 2, number(t, l))
	st := l.Stats()
	require.Equal(t, 3, st.Open)
	require.Equal(t, 3, st.Idle)
	require.EqualValues(t, 3, st.OpenedTotal)
	require.EqualValues(t, 3, st.Opens.Count())
}

// Law: callers who wait are served in order, and each is told why it is not.
func TestCallersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, Waiters: 4, Patience: lane.Strict})
		b := borrow(t, l)
		var order []int
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				ctx := t.Context()
				if i == 1 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Millisecond)
					defer cancel()
				}
				err := l.With(ctx, func(context.Context, *thing) error { order = append(order, i); return nil })
				if i == 1 {
					refused(t, err, context.DeadlineExceeded, ioerr.TimedOut)
				} else {
					require.NoError(t, err)
				}
			})
			synctest.Wait()
		}
		refused(t, l.With(t.Context(), nothing), ioerr.ErrBorrowersFull, ioerr.Failed)
		refused(t, l.With(t.Context(), nothing, pool.FailFast), ioerr.ErrExhausted, ioerr.Failed)
		time.Sleep(2 * time.Millisecond)
		refused(t, l.With(t.Context(), nothing, pool.AcceptWithin(time.Second)), ioerr.ErrAcceptTimeout, ioerr.TimedOut)
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		all.Go(func() { refused(t, l.With(ctx, nothing, pool.Label("x")), cause, ioerr.Cancelled) })
		synctest.Wait()
		require.Equal(t, 4, l.Stats().Waiting)
		cancel(cause)
		synctest.Wait()
		refused(t, l.With(ctx, nothing), cause, ioerr.Cancelled)
		require.NoError(t, b.Return())
		all.Wait()
		require.Equal(t, []int{0, 2, 3}, order)
		st := l.Stats()
		require.Equal(t, lend.Refused{Exhausted: 1, Overloaded: 1, Expired: 1, Cancelled: 2}, st.Refused)
		require.EqualValues(t, 6, st.Waits.Count())
		require.Equal(t, time.Second+2*time.Millisecond, st.WaitMax)
	})
}

// Law: there are never more resources than the capacity, with those that are being opened
// and closed.
func TestCapacityIsNeverExceeded(t *testing.T) {
	s := shop{before: func(context.Context) error { time.Sleep(50 * time.Microsecond); return nil }, leaves: func() { time.Sleep(50 * time.Microsecond) }}
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 3, MinIdle: 1, Lifetime: 200 * time.Microsecond, IdleTime: 100 * time.Microsecond,
		Check: func(_ context.Context, r *thing) error {
			if r.number%3 == 0 {
				return errIO
			}
			return nil
		}})
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			for n := range 200 {
				err := l.With(t.Context(), func(ctx context.Context, r *thing) error {
					r.use(ctx)
					if (i+n)%7 == 0 {
						return pool.Poison(errIO)
					}
					return nil
				})
				if (i+n)%7 == 0 {
					require.ErrorIs(t, err, errIO)
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, s.most.Load(), int64(3))
	st := l.Stats()
	require.NotZero(t, st.Closed.Broken)
	require.NotZero(t, st.Closed.Check)
	require.NotZero(t, st.Closed.Lifetime)
}

// Law: what cannot be is refused by name and value.
func TestWhatCannotBeIsRefused(t *testing.T) {
	p, err := pool.New(pool.Config[*thing]{})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	s := shop{t: t}
	for name, c := range map[string]lend.Config[*thing]{
		"lend.Config.Open":        {Capacity: 1},
		"lend.Config.Capacity":    {Open: s.open},
		"lend.Config.MinIdle":     {Open: s.open, Capacity: 1, MinIdle: 2},
		"lend.Config.Waiters":     {Open: s.open, Capacity: 1, Waiters: -2},
		"lend.Config.Policy":      {Open: s.open, Capacity: 1, Policy: 9},
		"lend.Config.IdleTime":    {Open: s.open, Capacity: 1, IdleTime: -1},
		"lend.Config.Lifetime":    {Open: s.open, Capacity: 1, Lifetime: math.MinInt64},
		"lend.Config.CheckAfter":  {Open: s.open, Capacity: 1, CheckAfter: -1},
		"lend.Config.CheckWithin": {Open: s.open, Capacity: 1, CheckWithin: -1},
		"lend.Config.OpenWithin":  {Open: s.open, Capacity: 1, OpenWithin: -1},
	} {
		_, err := lend.New(p, c)
		e, ok := errors.AsType[*ioerr.ArgumentError](err)
		require.True(t, ok, name)
		require.Equal(t, name, e.Name)
	}
	good := lend.Config[*thing]{Open: s.open, Capacity: 2}
	for _, p := range []*pool.Pool[*thing]{nil, {}} {
		_, err := lend.New(p, good)
		require.ErrorIs(t, err, ioerr.ErrInvalid)
	}
	var none context.Context
	for _, l := range []*lend.Lender[*thing]{nil, {}} {
		require.ErrorIs(t, l.With(t.Context(), nothing), ioerr.ErrInvalid)
		_, err := l.Borrow(t.Context())
		require.ErrorIs(t, err, ioerr.ErrInvalid)
		require.ErrorIs(t, l.Resize(1), ioerr.ErrInvalid)
		require.ErrorIs(t, l.Close(), ioerr.ErrInvalid)
		require.Zero(t, l.Stats())
	}
	l, err := lend.New(p, good)
	require.NoError(t, err)
	require.ErrorIs(t, l.With(none, nothing), ioerr.ErrInvalid)
	require.ErrorIs(t, l.With(t.Context(), nil), ioerr.ErrInvalid)
	_, err = lend.Transact[int](t.Context(), l, nil)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = lend.Offload[int](t.Context(), l, nil)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	require.ErrorIs(t, l.Resize(0), ioerr.ErrInvalid)
	require.ErrorIs(t, l.Resize(1<<16), ioerr.ErrInvalid)
	require.ErrorIs(t, l.Shutdown(none), ioerr.ErrInvalid)
	var loan lend.Loan[*thing]
	refused(t, loan.With(t.Context(), nothing), ioerr.ErrReturned, ioerr.Failed)
	refused(t, loan.Return(), ioerr.ErrReturned, ioerr.Failed)
	require.ErrorIs(t, loan.With(t.Context(), nil), ioerr.ErrInvalid)
	require.NoError(t, l.Close())
}

// Law: a call from inside another one on the same lane does not wait for a resource.
func TestACallInsideAnotherOneDoesNotWait(t *testing.T) {
	var s shop
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
	require.NoError(t, l.With(t.Context(), func(ctx context.Context, _ *thing) error {
		refused(t, l.With(ctx, nothing), ioerr.ErrReentry, ioerr.Failed)
		require.ErrorIs(t, l.Shutdown(ctx), ioerr.ErrReentry)
		return nil
	}))
	require.NoError(t, l.Resize(2))
	require.NoError(t, l.With(t.Context(), func(ctx context.Context, _ *thing) error {
		return l.With(ctx, nothing)
	}))
	require.EqualValues(t, 1, l.Stats().Refused.Reentry)
}

// Law: … nor until one is closed that is not fit for use, since that takes a place in the lane.
func TestACallInsideAnotherOneDoesNotWaitForAClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		var all sync.WaitGroup
		other := func() {}
		l, p := on(t, &s, lend.Config[*thing]{Capacity: 1, Check: func(_ context.Context, r *thing) error {
			other()
			if r.number == 1 {
				return errIO
			}
			return nil
		}}, pool.Config[*thing]{Threads: lane.Config{Workers: 2, Patience: lane.Strict}})
		require.EqualValues(t, 1, number(t, l))
		gate := make(chan struct{})
		other = func() { // takes the place of the call that checks
			all.Go(func() { require.NoError(t, p.Do(t.Context(), func(context.Context) error { <-gate; return nil })) })
			for p.Stats().Lane.Queued == 0 {
				runtime.Gosched()
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, p.Do(ctx, func(ctx context.Context) error {
			refused(t, l.With(ctx, nothing), ioerr.ErrReentry, ioerr.Failed)
			return nil
		}))
		other = func() {}
		close(gate)
		all.Wait()
		require.EqualValues(t, 2, number(t, l))
		require.EqualValues(t, 1, l.Stats().Closed.Check)
	})
}
