package lend_test

import (
	"context"
	"errors"
	"fmt"
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

// Law: what a call may have broken is closed and not lent again; an error alone breaks
// nothing.
func TestWhatMayBeBrokenIsNotLentAgain(t *testing.T) {
	var s shop
	l, _ := on(t, &s, lend.Config[*thing]{Capacity: 1}, pool.Config[*thing]{
		Threads: lane.Config{Workers: 4},
		Health:  pool.HealthRules{Bad: func(err error) bool { return err == context.Canceled }, Down: 1, Probe: time.Hour},
		Check:   func(*thing) error { return nil },
	})
	require.EqualValues(t, 1, number(t, l))
	require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { return errIO }), errIO)
	require.EqualValues(t, 1, number(t, l))

	require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { panic(errIO) }), errIO)
	require.EqualValues(t, 2, number(t, l))

	require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { return pool.Poison(errIO) }), errIO)
	require.EqualValues(t, 3, number(t, l))

	require.Error(t, l.With(t.Context(), func(context.Context, *thing) error { return context.Canceled })) // down
	require.EqualValues(t, 4, number(t, l))

	var all sync.WaitGroup
	all.Go(func() {
		_ = l.With(t.Context(), func(context.Context, *thing) error { runtime.Goexit(); return nil })
	})
	all.Wait()
	require.EqualValues(t, 5, number(t, l))

	b := borrow(t, l)
	require.ErrorIs(t, b.With(t.Context(), func(context.Context, *thing) error { panic(errIO) }), errIO)
	require.NoError(t, b.Return())
	require.EqualValues(t, 6, number(t, l))

	b = borrow(t, l)
	all.Go(func() { _ = b.With(t.Context(), func(context.Context, *thing) error { runtime.Goexit(); return nil }) })
	all.Wait()
	require.NoError(t, b.Return())
	require.EqualValues(t, 7, number(t, l))

	require.NoError(t, borrow(t, l).Discard())
	require.EqualValues(t, 8, number(t, l))
	require.EqualValues(t, 7, l.Stats().Closed.Broken)
}

// Law: the end of a caller's context says nothing about what was lent, whatever its cause.
func TestTheCauseOfAContextSaysNothingAboutAResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l, p := on(t, &s, lend.Config[*thing]{Capacity: 1}, pool.Config[*thing]{Threads: lane.Config{Workers: 1}})
		require.EqualValues(t, 1, number(t, l))
		gate := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { require.NoError(t, p.Do(t.Context(), func(context.Context) error { <-gate; return nil })) })
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		all.Go(func() { refused(t, l.With(ctx, nothing), ioerr.ErrPoisoned, ioerr.Cancelled) }) // has it, and waits for the lane
		synctest.Wait()
		cancel(pool.Poison(errIO))
		synctest.Wait()
		close(gate)
		all.Wait()
		require.EqualValues(t, 1, number(t, l))
	})
}

// Law: what Config.Broken says of an error is what becomes of the resource.
func TestAnErrorMaySayThatTheResourceIsBroken(t *testing.T) {
	var s shop
	broken := errors.New("broken pipe")
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, Broken: func(err error) bool { return errors.Is(err, broken) }})
	for i := range int64(3) {
		require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { return errIO }), errIO)
		require.Equal(t, 2*i+1, number(t, l))
		require.ErrorIs(t, l.With(t.Context(), func(context.Context, *thing) error { return fmt.Errorf("write: %w", broken) }), broken)
		require.Equal(t, 2*i+2, number(t, l))
		b := borrow(t, l)
		require.ErrorIs(t, b.With(t.Context(), func(context.Context, *thing) error { return broken }), broken)
		require.NoError(t, b.Return())
	}
	require.EqualValues(t, 6, l.Stats().Closed.Broken)
	func() { // one that panics does so in the caller, and costs the resource
		defer func() { require.Equal(t, errIO, recover()) }()
		l, _ := on(t, &shop{}, lend.Config[*thing]{Capacity: 1, Broken: func(error) bool { panic(errIO) }}, pool.Config[*thing]{})
		_ = l.With(t.Context(), func(context.Context, *thing) error { return broken })
	}()
}

// Law: of a call that was left the resource stays lent until it ends, and is closed then.
func TestWhatWasLeftStaysLentUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		abandoning, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 2}, Grace: lane.NoGrace})
		require.NoError(t, err)
		l, _ := on(t, &s, lend.Config[*thing]{Capacity: 1}, pool.Config[*thing]{Lane: abandoning, OwnsLane: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = lend.Offload(ctx, l, func(context.Context, *thing) (int, error) { time.Sleep(time.Minute); return 0, nil })
		require.ErrorIs(t, err, ioerr.ErrLeft)
		st := l.Stats()
		require.Equal(t, 1, st.Lent+st.Closing)
		refused(t, l.With(t.Context(), nothing, pool.FailFast), ioerr.ErrExhausted, ioerr.Failed)
		began := time.Now()
		n, err := lend.Offload(t.Context(), l, func(_ context.Context, r *thing) (int64, error) { return r.number, nil })
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Equal(t, 59*time.Second, time.Since(began))
	})
}

// Law: an opening that was left, too, keeps its right until it ends: there are never more than
// the capacity.
func TestAnOpeningThatWasLeftKeepsItsRight(t *testing.T) {
	for name, ends := range map[string]func(){"returns": func() {}, "panics": func() { panic(errIO) }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s shop
				s.before = func(context.Context) error {
					time.Sleep(time.Minute)
					if name != "returns" {
						s.exist.Add(-1)
					}
					ends()
					return nil
				}
				abandoning, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 4}, Grace: lane.NoGrace})
				require.NoError(t, err)
				l, _ := on(t, &s, lend.Config[*thing]{Capacity: 1, OpenWithin: time.Second}, pool.Config[*thing]{Lane: abandoning, OwnsLane: true})
				began := time.Now()
				refused(t, l.With(t.Context(), nothing), ioerr.ErrLeft, ioerr.TimedOut)
				require.Equal(t, time.Second, time.Since(began))
				require.Equal(t, 1, l.Stats().Opening)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				refused(t, l.With(ctx, nothing), context.DeadlineExceeded, ioerr.TimedOut)
				require.EqualValues(t, 1, s.most.Load())
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Zero(t, l.Stats().Open)
				s.before = nil
				number(t, l)
			})
		})
	}
}

// Law: on a lane that runs calls itself everything works with Offload, checks included.
func TestOffloadOnPinned(t *testing.T) {
	var s shop
	pinned, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Workers: 2}})
	require.NoError(t, err)
	bad := true
	l, _ := on(t, &s, lend.Config[*thing]{Capacity: 1, Check: func(context.Context, *thing) error {
		if bad {
			bad = false
			return errIO
		}
		return nil
	}}, pool.Config[*thing]{Lane: pinned, OwnsLane: true})
	for _, want := range []int64{1, 2, 2} {
		n, err := lend.Offload(t.Context(), l, func(_ context.Context, r *thing) (int64, error) { return r.number, nil })
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.ErrorIs(t, l.With(t.Context(), nothing), ioerr.ErrUnsupported)
}
