package pool_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: timed calls begin when they are due, in order of their times and then of their
// coming, and take neither a slot nor a goroutine before.
func TestTimedCallsBeginWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 1})
		g := newGroup(t, p, pool.GroupConfig{})
		began := time.Now()
		var order []int
		for i := range 100 {
			d := time.Duration(i*37%10) * time.Second
			require.NoError(t, g.After(t.Context(), d, func(context.Context) error {
				require.Equal(t, d, time.Since(began))
				order = append(order, int(d/time.Second)*100+i)
				return nil
			}))
		}
		synctest.Wait()
		require.Len(t, order, 10) // those of d == 0
		require.Zero(t, p.Stats().Lane.Running+p.Stats().Lane.Queued)
		require.NoError(t, g.Wait(t.Context()))
		require.Len(t, order, 100)
		require.IsIncreasing(t, order)
		require.Equal(t, 9*time.Second, time.Since(began))
	})
}

// Law: timed calls that are due together run on as many slots as there are.
func TestTimedCallsShareTheLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 4})
		g := newGroup(t, p, pool.GroupConfig{})
		limited := newGroup(t, p, pool.GroupConfig{Limit: 2})
		began := time.Now()
		call := func(context.Context) error { time.Sleep(time.Second); return nil }
		for range 8 {
			require.NoError(t, g.After(t.Context(), time.Second, call))
		}
		require.NoError(t, g.Wait(t.Context()))
		require.Equal(t, 3*time.Second, time.Since(began))
		for range 8 {
			require.NoError(t, limited.After(t.Context(), time.Second, call))
		}
		require.NoError(t, limited.Wait(t.Context()))
		require.Equal(t, 8*time.Second, time.Since(began))
	})
}

// Law: Cancel drops the calls whose time has not come; they never run.
func TestCancelDropsTimedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 1})
		g := newGroup(t, p, pool.GroupConfig{})
		began := time.Now()
		var ran atomic.Int64
		for i := range 1000 {
			require.NoError(t, g.After(t.Context(), time.Duration(i)*time.Hour, func(context.Context) error { ran.Add(1); return nil }))
		}
		own := errors.New("own")
		time.Sleep(90 * time.Minute)
		g.Cancel(own)
		require.ErrorIs(t, g.After(t.Context(), 0, func(context.Context) error { return nil }), own)
		require.ErrorIs(t, g.Wait(t.Context()), own)
		require.Equal(t, 90*time.Minute, time.Since(began))
		require.EqualValues(t, 2, ran.Load())
		require.NoError(t, g.After(t.Context(), time.Second, func(context.Context) error { ran.Add(1); return nil }))
		require.NoError(t, g.Wait(t.Context()))
		require.EqualValues(t, 3, ran.Load())
	})
}

// Law: what a timed call is refused with is an error of the group.
func TestARefusedTimedCallIsAnErrorOfTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 1})
		g := newGroup(t, p, pool.GroupConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, g.After(ctx, time.Second, func(context.Context) error { t.Error("ran"); return nil }, pool.Label("late")))
		cancel()
		err := g.Wait(t.Context())
		require.ErrorIs(t, err, context.Canceled)
		e, _ := errors.AsType[*ioerr.Error](err)
		require.Equal(t, ioerr.None, e.Effect)
		require.NoError(t, g.After(t.Context(), time.Second, func(context.Context) error { t.Error("ran"); return nil }))
		require.NoError(t, p.Close())
		require.ErrorIs(t, g.Wait(t.Context()), ioerr.ErrShutdown)
	})
}

// Law: Sleep lasts as long as it is told, or until its context ends.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, pool.Sleep(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(began))
		cause := errors.New("cause")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		err := pool.Sleep(ctx, time.Hour)
		require.ErrorIs(t, err, cause)
		e, _ := errors.AsType[*ioerr.Error](err)
		require.Equal(t, ioerr.TimedOut, e.Outcome)
		require.Equal(t, time.Minute+time.Second, time.Since(began))
		var none context.Context
		require.ErrorIs(t, pool.Sleep(none, 0), ioerr.ErrInvalid)
	})
}
