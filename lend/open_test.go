package lend_test

import (
	"context"
	"errors"
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

// Law: an opening that fails is told to the one who needs it, and the next one tries for
// himself: nobody hangs.
func TestAnOpeningThatFailsIsToldToEachWhoTries(t *testing.T) {
	for name, fails := range map[string]func(context.Context) error{
		"error":  func(context.Context) error { return errIO },
		"panic":  func(context.Context) error { panic(errIO) },
		"Goexit": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s shop
				s.before = func(ctx context.Context) error {
					defer func() {
						if name != "error" {
							s.exist.Add(-1)
						}
					}()
					time.Sleep(time.Millisecond)
					return fails(ctx)
				}
				l := newLender(t, &s, lend.Config[*thing]{Capacity: 2})
				var all sync.WaitGroup
				for range 10 {
					all.Go(func() {
						err := l.With(t.Context(), nothing)
						want := errIO
						if name == "Goexit" {
							want = ioerr.ErrGoexit
						}
						refused(t, err, want, ioerr.Failed)
						_, ok := errors.AsType[*lend.OpenError](err)
						require.True(t, ok)
					})
				}
				all.Wait()
				st := l.Stats()
				require.EqualValues(t, 10, st.OpenFailed)
				require.Zero(t, st.Open)
				s.before = nil
				require.EqualValues(t, 1, number(t, l))
			})
		})
	}
}

// key is of a value in a context.
type key struct{}

// Law: who does not wait for an opening any more leaves it to the next one.
func TestAnOpeningGoesOnWithoutTheOneWhoWantedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		s.before = func(ctx context.Context) error {
			require.Equal(t, "v", ctx.Value(key{}))
			time.Sleep(time.Second)
			return ctx.Err()
		}
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "v"), time.Millisecond)
		defer cancel()
		began := time.Now()
		refused(t, l.With(ctx, nothing, pool.Label("x")), context.DeadlineExceeded, ioerr.TimedOut)
		require.Equal(t, time.Millisecond, time.Since(began))
		refused(t, l.With(t.Context(), nothing, pool.AcceptWithin(time.Millisecond)), ioerr.ErrAcceptTimeout, ioerr.TimedOut) // in line
		require.Equal(t, 1, l.Stats().Opening)
		require.EqualValues(t, 1, number(t, l)) // waits for that one
		require.Equal(t, time.Second, time.Since(began))
	})
}

// Law: AcceptWithin bounds the wait for an opening, too.
func TestAcceptWithinBoundsTheWaitForAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{before: func(context.Context) error { time.Sleep(time.Second); return nil }}
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
		began := time.Now()
		refused(t, l.With(t.Context(), nothing, pool.AcceptWithin(time.Millisecond)), ioerr.ErrAcceptTimeout, ioerr.TimedOut)
		require.Equal(t, time.Millisecond, time.Since(began))
		require.NoError(t, l.With(t.Context(), nothing, pool.AcceptWithin(time.Minute)))
		require.Equal(t, time.Second, time.Since(began))
		require.EqualValues(t, 1, s.opened.Load())
		require.Equal(t, lend.Refused{Expired: 1}, l.Stats().Refused)
	})
}

// Law: OpenWithin bounds an opening.
func TestOpenWithinBoundsAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		s.before = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, OpenWithin: time.Second})
		err := l.With(t.Context(), nothing)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, ok := errors.AsType[*lend.OpenError](err)
		require.True(t, ok)
	})
}

// Law: AcceptWithin does not begin anew with what is opened in the place of what was not fit.
func TestAcceptWithinBoundsAllWaitsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 1, Check: func(context.Context, *thing) error {
			time.Sleep(600 * time.Millisecond)
			return errIO
		}})
		for _, borrows := range []bool{false, true} {
			s.before = nil
			number(t, l)
			s.before = func(context.Context) error { time.Sleep(time.Minute); return nil }
			began := time.Now()
			var err error
			if borrows {
				_, err = l.Borrow(t.Context(), pool.AcceptWithin(time.Second))
			} else {
				err = l.With(t.Context(), nothing, pool.AcceptWithin(time.Second))
			}
			refused(t, err, ioerr.ErrAcceptTimeout, ioerr.TimedOut)
			require.Equal(t, time.Second, time.Since(began))
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		require.EqualValues(t, 2, l.Stats().Refused.Expired)
	})
}

// Law: openings and closings go side by side, and hold up nobody who does not need them.
func TestOpeningsGoSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{before: func(context.Context) error { time.Sleep(time.Second); return nil }}
		l := newLender(t, &s, lend.Config[*thing]{Capacity: 5})
		began := time.Now()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				require.NoError(t, l.With(t.Context(), func(context.Context, *thing) error { time.Sleep(time.Millisecond); return nil }))
			})
		}
		all.Wait()
		require.Equal(t, time.Second+time.Millisecond, time.Since(began))
		s.leaves = func() { time.Sleep(time.Second) }
		require.Error(t, l.With(t.Context(), func(context.Context, *thing) error { return pool.Poison(errIO) }))
		number(t, l)
		require.Equal(t, time.Second+time.Millisecond, time.Since(began))
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Closing)
		require.Equal(t, 4, l.Stats().Open)
	})
}

// panics is a context whose Done, or Value, does.
type panics struct {
	context.Context
	value bool
}

func (c panics) Done() <-chan struct{} {
	if !c.value {
		panic("Done")
	}
	return c.Context.Done()
}

func (c panics) Value(key any) any {
	if c.value {
		panic("Value")
	}
	return c.Context.Value(key)
}

// Law: a context that panics costs no resource, no right and not the process.
func TestAContextThatPanicsCostsNothing(t *testing.T) {
	var s shop
	l := newLender(t, &s, lend.Config[*thing]{Capacity: 1})
	for _, value := range []bool{false, true} {
		for range 3 {
			func() {
				defer func() { _ = recover() }()
				_ = l.With(panics{t.Context(), value}, nothing)
			}()
			func() {
				defer func() { _ = recover() }()
				b, err := l.Borrow(panics{t.Context(), value})
				if err == nil {
					require.NoError(t, b.Return())
				}
			}()
			number(t, l)
		}
	}
}

// Law: a context that panics while the opening waits for the lane is told of like an opening
// that fails.
func TestAContextThatPanicsInTheOpeningIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		l, p := on(t, &s, lend.Config[*thing]{Capacity: 1}, pool.Config[*thing]{Threads: lane.Config{Workers: 1}})
		gate := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { require.NoError(t, p.Do(t.Context(), func(context.Context) error { <-gate; return nil })) })
		synctest.Wait()
		err := l.With(panics{t.Context(), true}, nothing)
		refused(t, err, err, ioerr.Failed)
		open, ok := errors.AsType[*lend.OpenError](err)
		require.True(t, ok)
		e, ok := open.Err.(*ioerr.Error)
		require.True(t, ok)
		require.Equal(t, ioerr.Failed, e.Outcome)
		_, ok = e.Err.(*ioerr.PanicError)
		require.True(t, ok)
		close(gate)
		all.Wait()
		number(t, l)
	})
}

// Law: in the middle of a call whose lane is full, an opening is refused as any call is.
func TestAnOpeningInsideAFullLaneIsRefused(t *testing.T) {
	var s shop
	l, p := on(t, &s, lend.Config[*thing]{Capacity: 1}, pool.Config[*thing]{Threads: lane.Config{Workers: 1}})
	require.NoError(t, p.Do(t.Context(), func(ctx context.Context) error {
		refused(t, l.With(ctx, nothing), ioerr.ErrReentry, ioerr.Failed)
		return nil
	}))
	require.EqualValues(t, 1, number(t, l))
}
