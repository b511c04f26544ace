package lane_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Law: when no thread is left and none can start, calls are refused with the reason, and
// have not run; the lane recovers with the first start that succeeds.
func TestACallWithoutAThreadIsToldWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no licence left")
		fails := false
		l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Name: "gl", Workers: 1}, Start: func(int) error {
			if fails {
				return broken
			}
			return nil
		}})
		fails = true
		require.NoError(t, on(t, l, func(th lane.Thread) { th.Taint() }))
		for range 3 {
			j := &job{}
			err := l.Carry(t.Context(), lane.Call{}, j)
			start, ok := errors.AsType[*ioerr.StartError](err)
			if !ok || start.Lane != "gl" || start.Thread != 0 || !errors.Is(err, broken) || j.ran != 0 || j.ended != 0 {
				t.Errorf("%v, %+v", err, j)
			}
		}
		synctest.Wait()
		s := l.Stats()
		addUp(t, s)
		if s.Threads != (lane.ThreadStats{Vacant: 1, Retired: 1}) || s.Dropped != 3 || s.Started != 1 || s.Completed != 1 || s.Running != 0 {
			t.Errorf("%+v", s)
		}
		fails = false
		require.NoError(t, on(t, l, func(lane.Thread) {}))
		shut(t, l)
	})
}

// Law: a lane of which no thread can start is not made, and says which and why.
func TestNewPinnedFailsWithTheFirstThreadThatCannotStart(t *testing.T) {
	bad := errors.New("bad")
	for name, test := range map[string]struct {
		start func() error
		want  error
	}{
		"error":  {func() error { return bad }, bad},
		"panic":  {func() error { panic(bad) }, bad},
		"Goexit": {func() error { runtime.Goexit(); return nil }, ioerr.ErrGoexit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g log
				c := g.hooked(4)
				c.Start = func(i int) error {
					if i%2 == 1 {
						return test.start()
					}
					return nil
				}
				l, err := lane.NewPinned(c)
				start, ok := errors.AsType[*ioerr.StartError](err)
				if l != nil || !ok || start.Thread != 1 || !errors.Is(err, test.want) {
					t.Errorf("%v", err)
				}
				require.Equal(t, []string{"stop 0", "stop 2"}, g.take())
			})
		})
	}
}

// Law: a call whose context ends while it waits for a thread never runs.
func TestACallThatWaitsForAThreadObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		close(hold)
		l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}, Start: func(int) error { <-hold; return nil }})
		hold = make(chan struct{})
		require.NoError(t, on(t, l, func(th lane.Thread) { th.Taint() }))
		ctx, cancel := context.WithCancelCause(t.Context())
		j := &job{}
		call := carry(ctx, l, lane.Call{}, j)
		waiting(t, call)
		cancel(errors.New("why"))
		if err := returned(t, call); !errors.Is(err, context.Canceled) || j.ran != 0 || j.ended != 0 {
			t.Errorf("%v, %+v", err, j)
		}
		s := l.Stats()
		addUp(t, s)
		if s.Dropped != 1 || s.Started != 1 {
			t.Errorf("%+v", s)
		}
		close(hold)
		require.NoError(t, on(t, l, func(lane.Thread) {}))
		shut(t, l)
	})
}

// Law: whoever is inside a call is refused at once if he would have to wait, for a slot or
// for a thread: it could be his own.
func TestACallFromInsideNeverWaits(t *testing.T) {
	for name, test := range map[string]struct {
		workers int
		lost    bool // the second thread cannot be replaced
	}{
		"no slot":   {workers: 1},
		"no thread": {workers: 2, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fails := false
				l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: test.workers}, Start: func(int) error {
					if fails {
						return errors.New("no")
					}
					return nil
				}})
				if fails = true; test.lost {
					require.NoError(t, on(t, l, func(th lane.Thread) { th.Taint() }))
					synctest.Wait()
				}
				inner := &job{}
				require.NoError(t, on(t, l, func(lane.Thread) {
					if err := l.Carry(t.Context(), lane.Call{NoWait: true}, inner); !errors.Is(err, ioerr.ErrReentry) {
						t.Errorf("%v", err)
					}
				}))
				s := l.Stats()
				addUp(t, s)
				if inner.ran != 0 || s.Refused.Reentry != 1 || s.Dropped != 0 {
					t.Errorf("ran %d times, %+v", inner.ran, s)
				}
				shut(t, l)
			})
		})
	}
}

// Law: a caller waits for the end of its call whatever its context, and so does Shutdown,
// within its own; the threads end after the last call.
func TestShutdownOfPinnedWaitsForTheRunningCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g log
		l := pinnedLane(t, g.hooked(2))
		k := newTask()
		ctx, cancel := context.WithCancel(t.Context())
		call := carry(ctx, l, lane.Call{}, k)
		waiting(t, call)
		cancel()
		for range 2 {
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			require.ErrorIs(t, l.Shutdown(short), context.DeadlineExceeded)
			cancel()
		}
		waiting(t, call)
		require.Equal(t, []string{"start 0", "start 1"}, g.take())
		require.ErrorIs(t, l.Carry(t.Context(), lane.Call{}, &job{}), ioerr.ErrShutdown)
		close(k.gate)
		require.NoError(t, returned(t, call))
		shut(t, l)
		require.Equal(t, []string{"stop 0", "stop 1"}, g.take())
	})
}

// Law: Shutdown waits for Stop, within its context, and returns what went wrong with it,
// each time.
func TestShutdownOfPinnedReturnsWhatWentWrongWithStop(t *testing.T) {
	for name, stop := range map[string]func(){
		"panic":  func() { panic("no") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Name: "gl", Workers: 2}, Stop: func(i int) {
					if <-hold; i == 1 {
						stop()
					}
				}})
				short, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("cause"))
				defer cancel()
				if err := l.Shutdown(short); err != context.DeadlineExceeded {
					t.Errorf("%v", err)
				}
				close(hold)
				for range 2 {
					err := l.Shutdown(t.Context())
					if e, ok := errors.AsType[*ioerr.StopError](err); !ok || e.Lane != "gl" || e.Thread != 1 {
						t.Errorf("%v", err)
					}
				}
				synctest.Wait()
				if s := l.Stats(); s.Threads.Alive != 0 {
					t.Errorf("%+v", s.Threads)
				}
			})
		})
	}
}

// Law: with PerKey a caller whose calls are slow has no more threads than that.
func TestASlowKeyKeepsToItsThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 4, PerKey: 2}})
		var slow []*task
		var calls []<-chan error
		for range 10 {
			k := newTask()
			slow, calls = append(slow, k), append(calls, carry(t.Context(), l, lane.Call{Key: "slow"}, k))
			synctest.Wait()
		}
		require.ErrorIs(t, l.Carry(t.Context(), lane.Call{Key: "slow", Policy: lane.FailFast}, &job{}), ioerr.ErrKeyBusy)
		if s := l.Stats(); s.Running != 2 || s.Waiting != 8 {
			t.Errorf("%+v", s)
		}
		require.NoError(t, on(t, l, func(lane.Thread) {}))
		for i, k := range slow {
			if k.ran.Load() != 1 {
				t.Errorf("the call number %d has not come in its turn", i)
			}
			close(k.gate)
			require.NoError(t, returned(t, calls[i]))
		}
		shut(t, l)
	})
}

// Law: the threads of a lane count among those of the process, kept ones too, until the
// lane has been shut down; more than the process may have are refused beforehand.
func TestThreadsOfPinnedAreHeldAgainstTheLimit(t *testing.T) {
	began := 0
	var all []*lane.Pinned
	for range 100 {
		l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Workers: 1}, Keep: 8000, Start: func(int) error { began++; return nil }})
		if err != nil {
			limit, ok := errors.AsType[*ioerr.ThreadLimitError](err)
			if !ok || limit.Threads != 8001 {
				t.Errorf("%v", err)
			}
			break
		}
		all = append(all, l)
	}
	if len(all) == 100 || began != len(all) {
		t.Errorf("%d lanes, %d threads", len(all), began)
	}
	for _, l := range all {
		shut(t, l)
	}
	l, err := lane.NewPinned(lane.PinnedConfig{Config: lane.Config{Workers: 1}, Keep: 8000})
	if len(all) > 0 {
		require.NoError(t, err)
		shut(t, l)
	}
}
