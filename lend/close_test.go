package lend_test

import (
	"context"
	"errors"
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

// Law: a shutdown refuses those who wait, waits for what is lent, and closes everything; the
// pool stays open.
func TestShutdownRefusesWaitsAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l, p := on(t, &s, lend.Config[*thing]{Capacity: 2, IdleTime: time.Hour}, pool.Config[*thing]{})
		b := borrow(t, l)
		number(t, l)
		other := borrow(t, l)
		require.NoError(t, other.Return())
		other = borrow(t, l)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { refused(t, l.With(t.Context(), nothing), ioerr.ErrShutdown, ioerr.ShutdownInProgress) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := l.Shutdown(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		e, _ := errors.AsType[*ioerr.Error](err)
		require.Equal(t, ioerr.Unknown, e.Effect)
		all.Wait()
		refused(t, l.With(t.Context(), nothing), ioerr.ErrShutdown, ioerr.ShutdownInProgress)
		refused(t, l.With(ctx, nothing), ioerr.ErrShutdown, ioerr.ShutdownInProgress) // beats the end of the context
		require.NoError(t, b.With(t.Context(), nothing))
		all.Go(func() { require.NoError(t, l.Close()) })
		require.NoError(t, b.Return())
		synctest.Wait()
		require.EqualValues(t, 1, s.closed.Load())
		require.NoError(t, other.Discard())
		all.Wait()
		require.EqualValues(t, 2, s.closed.Load())
		require.NoError(t, p.Do(t.Context(), func(context.Context) error { return nil }))
	})
}

// Law: when the pool shuts down, those who wait are told at once, and what is lent belongs to
// nobody any more.
func TestTheEndOfThePoolIsThatOfTheLending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		s.t = t
		p, err := pool.New(pool.Config[*thing]{Dispose: s.close})
		require.NoError(t, err)
		l, err := lend.New(p, lend.Config[*thing]{Open: s.open, Capacity: 2, IdleTime: time.Minute, MinIdle: 1})
		require.NoError(t, err)
		b := borrow(t, l)
		gate := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			require.NoError(t, l.With(t.Context(), func(context.Context, *thing) error { <-gate; return nil }))
		})
		synctest.Wait()
		all.Go(func() { refused(t, l.With(t.Context(), nothing), ioerr.ErrShutdown, ioerr.ShutdownInProgress) })
		synctest.Wait()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			require.NoError(t, p.Close())
		}()
		synctest.Wait()
		refused(t, l.With(t.Context(), nothing), ioerr.ErrShutdown, ioerr.ShutdownInProgress)
		refused(t, b.With(t.Context(), nothing), ioerr.ErrShutdown, ioerr.ShutdownInProgress)
		close(gate)
		all.Wait()
		<-ended
		require.NoError(t, b.Return())
		require.NoError(t, l.Close())
		require.Equal(t, s.opened.Load(), s.closed.Load())
		_, err = lend.New(p, lend.Config[*thing]{Open: s.open, Capacity: 2})
		refused(t, err, ioerr.ErrShutdown, ioerr.ShutdownInProgress)
		time.Sleep(time.Hour)
		require.Zero(t, l.Stats().Open)
	})
}

// Law: closing in the midst of openings, calls and failures ends, and loses nothing.
func TestCloseAtAnyMoment(t *testing.T) {
	for round := range 200 {
		s := shop{t: t}
		s.before = func(context.Context) error {
			time.Sleep(time.Duration(round%7) * 10 * time.Microsecond)
			if round%3 == 0 {
				return errIO
			}
			return nil
		}
		p, err := pool.New(pool.Config[*thing]{Dispose: s.close, Threads: lane.Config{Workers: 3}})
		require.NoError(t, err)
		l, err := lend.New(p, lend.Config[*thing]{Open: s.open, Capacity: 4, MinIdle: round % 3, Lifetime: time.Duration(round%5) * 20 * time.Microsecond})
		require.NoError(t, err)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*20)*time.Microsecond)
					_ = l.With(ctx, func(ctx context.Context, r *thing) error { r.use(ctx); return nil })
					cancel()
				}
			})
		}
		time.Sleep(time.Duration(round) * 3 * time.Microsecond)
		if round%2 == 0 {
			require.NoError(t, l.Close())
		}
		require.NoError(t, p.Close())
		all.Wait()
		require.NoError(t, l.Close())
		require.Equal(t, s.opened.Load(), s.closed.Load())
		st := l.Stats()
		require.Zero(t, st.Open+st.Idle+st.Lent+st.Opening+st.Closing, "%+v", st)
	}
}

// Law: a resource that is being closed does not wait for itself.
func TestAClosingDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		s.leaves = func() {
			refused(t, l.With(ctx, nothing), ioerr.ErrReentry, ioerr.Failed)
			refused(t, l.Shutdown(ctx), ioerr.ErrReentry, ioerr.Failed)
		}
		require.NoError(t, borrow(t, l).Discard())
		synctest.Wait()
		require.EqualValues(t, 1, s.closed.Load())
		s.leaves = nil
		number(t, l)
	})
}

// Law: a smaller capacity is reached as resources are given back, a larger one lets those who
// wait in at once.
func TestResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 3})
		loans := []lend.Loan[*thing]{borrow(t, l), borrow(t, l)}
		number(t, l)
		require.Equal(t, 1, l.Stats().Idle)
		require.NoError(t, l.Resize(1))
		synctest.Wait()
		st := l.Stats()
		require.Equal(t, 1, st.Capacity)
		require.Equal(t, 2, st.Open)
		require.NoError(t, loans[0].Return())
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Open)
		var all sync.WaitGroup
		entered := make(chan struct{}, 3)
		gate := make(chan struct{})
		for range 3 {
			all.Go(func() {
				require.NoError(t, l.With(t.Context(), func(context.Context, *thing) error { entered <- struct{}{}; <-gate; return nil }))
			})
		}
		synctest.Wait()
		require.Empty(t, entered)
		require.NoError(t, l.Resize(4))
		synctest.Wait()
		require.Len(t, entered, 3)
		close(gate)
		all.Wait()
		require.NoError(t, loans[1].Return())
		require.Equal(t, 4, l.Stats().Idle)
		require.NoError(t, l.Resize(2))
		synctest.Wait()
		require.Equal(t, 2, l.Stats().Open)
		require.EqualValues(t, 4, l.Stats().Closed.Surplus)
	})
}
