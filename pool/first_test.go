package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

type calls = []func(context.Context) (int, error)

// after returns a call that takes d, or until it is called off.
func after(d time.Duration, v int, err error) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if e := pool.Sleep(ctx, d); e != nil {
			return 0, e
		}
		return v, err
	}
}

// Law: the first success is the result, or with Race the first end; all the others have ended
// by then.
func TestTheFirstOneWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := ofWorkers(t, lane.Config{Workers: 4})
		all := calls{after(3*time.Second, 3, nil), after(time.Second, 0, errIO), after(2*time.Second, 2, nil), after(time.Hour, 4, nil)}
		began := time.Now()
		v, err := pool.First(t.Context(), p, all)
		require.NoError(t, err)
		require.Equal(t, 2, v)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Zero(t, p.Stats().Lane.Running)
		_, err = pool.Race(t.Context(), p, all)
		require.ErrorIs(t, err, errIO)
		require.Equal(t, 3*time.Second, time.Since(began))
		v, err = pool.Race(t.Context(), p, all[2:])
		require.NoError(t, err)
		require.Equal(t, 2, v)
	})
}

// Law: nothing begins once one has won, and a winner's slot is not a loser's.
func TestNothingBeginsAfterTheWin(t *testing.T) {
	everyLane(t, lane.Config{Workers: 2}, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		slots := p.Stats().Lane.Workers
		var began atomic.Int64
		all := make(calls, 100)
		for i := range all {
			all[i] = func(context.Context) (int, error) { began.Add(1); return i, nil }
		}
		for range 50 {
			began.Store(0)
			v, err := pool.First(t.Context(), p, all)
			require.NoError(t, err)
			require.Less(t, v, slots)
			require.LessOrEqual(t, int(began.Load()), slots)
		}
		require.NoError(t, p.Close())
	})
}

// Law: if none succeeds there are the errors of all, in order; a panic and Goexit are errors.
func TestTheErrorsOfAllWhoLose(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		other := errors.New("other")
		_, err = pool.First(t.Context(), p, calls{
			func(context.Context) (int, error) { return 0, errIO },
			func(context.Context) (int, error) { panic("x") },
			func(context.Context) (int, error) { return 0, other },
		})
		g, ok := errors.AsType[*pool.GroupError](err)
		require.True(t, ok)
		require.Len(t, g.Errs, 3)
		require.ErrorIs(t, g.Errs[0], errIO)
		_, panicked := errors.AsType[*ioerr.PanicError](g.Errs[1])
		require.True(t, panicked)
		require.ErrorIs(t, g.Errs[2], other)
		_, err = pool.Race(t.Context(), p, calls{func(context.Context) (int, error) { panic("x") }, after(time.Hour, 0, nil)})
		_, panicked = errors.AsType[*ioerr.PanicError](err)
		require.True(t, panicked)
		if _, inline := l.(*lane.Inline); !inline {
			_, err = pool.Race(t.Context(), p, calls{func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, after(time.Hour, 0, nil)})
			require.ErrorIs(t, err, ioerr.ErrGoexit)
		}
		_, err = pool.First(t.Context(), p, calls{func(context.Context) (int, error) { return 0, errIO }})
		_, ok = errors.AsType[*pool.GroupError](err)
		require.False(t, ok)
		require.ErrorIs(t, err, errIO)
		ended, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		_, err = pool.First(ended, p, calls{after(time.Hour, 0, nil), after(time.Hour, 0, nil)})
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, p.Close())
		for _, contest := range []func(context.Context, *pool.Pool[struct{}], []func(context.Context) (int, error), ...pool.Option) (int, error){pool.First[int, struct{}], pool.Race[int, struct{}]} {
			_, err = contest(t.Context(), p, calls{after(0, 0, nil)})
			require.ErrorIs(t, err, ioerr.ErrShutdown)
		}
	})
}

// Law: an error of several says that nothing ran only if none did.
func TestTheEffectOfSeveralErrorsIsTheStrongest(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1, Queue: lane.NoQueue})
	gate := make(chan struct{})
	call, running := block(gate)
	busy := pool.Async(t.Context(), p, call)
	<-running
	late := pool.AcceptWithin(time.Millisecond)
	_, err := pool.First(t.Context(), p, calls{after(0, 0, errIO), after(0, 0, errIO)}, late)
	e, ok := errors.AsType[*ioerr.Error](err)
	require.True(t, ok)
	require.Equal(t, ioerr.None, e.Effect)
	require.Equal(t, ioerr.TimedOut, e.Outcome)
	_, err = pool.First(t.Context(), p, calls{
		func(context.Context) (int, error) { return 0, nil }, // refused, and so are not all
		after(0, 0, errIO),
	}, late)
	require.ErrorIs(t, err, ioerr.ErrAcceptTimeout)
	close(gate)
	_, err = busy.Await(t.Context())
	require.NoError(t, err)
	mixed := &pool.GroupError{Errs: []error{e, &ioerr.Error{Effect: ioerr.Done, Err: errIO}}}
	e, ok = errors.AsType[*ioerr.Error](mixed)
	require.True(t, ok)
	require.Equal(t, ioerr.Done, e.Effect)
	require.ErrorIs(t, e, errIO)
	e, _ = errors.AsType[*ioerr.Error](&pool.GroupError{Errs: []error{errIO}})
	require.Equal(t, ioerr.Done, e.Effect)
}

// Law: it ends whatever the sizes, also inside a full lane, one in the other and in a group.
func TestAContestEndsWhateverTheSizes(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1, Queue: 1, Waiters: 1})
	var contest func(ctx context.Context, depth int) (int, error)
	contest = func(ctx context.Context, depth int) (int, error) {
		all := make(calls, 5)
		for i := range all {
			all[i] = func(ctx context.Context) (int, error) {
				switch {
				case i < 3:
					return 0, errIO
				case depth == 0:
					return i, nil
				}
				return contest(ctx, depth-1)
			}
		}
		return pool.First(ctx, p, all)
	}
	v, err := contest(t.Context(), 4)
	require.NoError(t, err)
	require.Equal(t, 3, v)
	g := newGroup(t, p, pool.GroupConfig{Limit: 1})
	for range 10 {
		require.NoError(t, g.Go(t.Context(), func(ctx context.Context) error { _, err := contest(ctx, 2); return err }))
	}
	require.NoError(t, g.Wait(t.Context()))
}

// Law: of what was opened all but what the winner has is undone, once.
func TestWhatLosersHaveOpenedIsUndone(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		var opened, closed atomic.Int64
		type opening struct{ open atomic.Bool }
		undo := pool.Undo(func(o *opening) error {
			if !o.open.Swap(false) {
				t.Error("undone twice")
			}
			closed.Add(1)
			return nil
		})
		open := func(ctx context.Context) (*opening, error) {
			if rand.IntN(2) == 0 {
				time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
			}
			if rand.IntN(4) == 0 {
				return nil, errIO
			}
			o := new(opening)
			o.open.Store(true)
			opened.Add(1)
			return o, nil
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(200))*time.Microsecond)
					contest := pool.First[*opening, struct{}]
					if rand.IntN(2) == 0 {
						contest = pool.Race
					}
					o, err := contest(ctx, p, []func(context.Context) (*opening, error){open, open, open}, undo)
					if err == nil {
						require.True(t, o.open.Swap(false))
						closed.Add(1)
					}
					cancel()
				}
			})
		}
		all.Wait()
		require.NoError(t, p.Close())
		require.Equal(t, opened.Load(), closed.Load())
	})
}

// Law: what undoes a result and fails is told by the report of the shutdown.
func TestAnUndoThatFailsIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := pool.New(pool.Config[struct{}]{Threads: lane.Config{Workers: 2}})
		require.NoError(t, err)
		late := func(context.Context) (int, error) { time.Sleep(time.Second); return 2, nil }
		v, err := pool.First(t.Context(), p, calls{after(time.Millisecond, 1, nil), late}, pool.Undo(func(int) error { panic(errIO) }))
		require.NoError(t, err)
		require.Equal(t, 1, v)
		require.ErrorIs(t, p.Close(), errIO)
	})
}

// Law: what cannot be is refused by name.
func TestContestsRefuseBadInput(t *testing.T) {
	p := ofWorkers(t, lane.Config{Workers: 1})
	good := func(context.Context) (int, error) { return 0, nil }
	var none context.Context
	for name, fails := range map[string]func() error{
		"calls":    func() error { _, err := pool.First[int](t.Context(), p, nil); return err },
		"calls[1]": func() error { _, err := pool.Race(t.Context(), p, calls{good, nil}); return err },
		"ctx":      func() error { _, err := pool.Race(none, p, calls{good}); return err },
		"p":        func() error { _, err := pool.First[int, struct{}](t.Context(), nil, calls{good}); return err },
		"pool.Undo": func() error {
			_, err := pool.First(t.Context(), p, calls{good}, pool.Undo(func(string) error { return nil }))
			return err
		},
	} {
		e, ok := errors.AsType[*ioerr.ArgumentError](fails())
		require.True(t, ok, name)
		require.Equal(t, name, e.Name)
	}
}

// Law: whatever the caller's context does, nothing goes on after First.
func TestNothingGoesOnAfterAContextThatPanics(t *testing.T) {
	each(t, func(t *testing.T, l lane.Lane) {
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		for after := range int64(40) { // questions that it answers before
			var asked, inside atomic.Int64
			ctx := valued{t.Context(), func() {
				if asked.Add(1) > after {
					panic("Value")
				}
			}}
			call := func(context.Context) (int, error) {
				inside.Add(1)
				defer inside.Add(-1)
				runtime.Gosched()
				return 0, nil
			}
			func() {
				defer func() { _ = recover() }()
				_, _ = pool.First(ctx, p, []func(context.Context) (int, error){call, call, call})
			}()
			require.Zero(t, inside.Load())
		}
		require.NoError(t, p.Close())
		require.Zero(t, p.Stats().Lane.Running)
	})
}
