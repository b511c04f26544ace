package pinned

import (
	"context"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// declared takes the first thread that anybody locks for the main thread, and counts
// the looks and those that met it.
func declared(s *Threads) (main, asked, given *atomic.Int32) {
	main, asked, given = new(atomic.Int32), new(atomic.Int32), new(atomic.Int32)
	s.onMain = func() bool {
		asked.Add(1)
		id := int32(threadID())
		main.CompareAndSwap(0, id)
		if main.Load() == id {
			given.Add(1)
			return true
		}
		return false
	}
	return main, asked, given
}

// The goroutine that is on the main thread holds it until the one that takes over has
// locked another thread, so that one cannot be on it: a second look is the last.
func TestMainThreadIsHeldUntilAnotherIsLocked(t *testing.T) {
	for range 100 {
		s, err := newThreads(Config{Threads: 1})
		require.NoError(t, err)
		_, asked, given := declared(s)
		require.NoError(t, s.startAll())
		if asked.Load() != 2 || given.Load() != 1 {
			t.Errorf("%d threads were looked at, %d of them the main thread", asked.Load(), given.Load())
		}
		require.NoError(t, s.Close(context.Background()))
	}
}

func TestMainThreadIsGivenUp(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			s, err := newThreads(Config{Threads: 2})
			require.NoError(t, err)
			main, asked, given := declared(s)
			require.NoError(t, s.startAll())
			for range 2 {
				require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
					if int32(th.ID()) == main.Load() || th.ID() != threadID() {
						t.Error("runs on the main thread")
					}
					th.Taint()
				})))
			}
			synctest.Wait()
			lawful(t, s)
			// Two at first, two replacements, and one more for each time that one of
			// them was on the main thread.
			if asked.Load() != 4+given.Load() || given.Load() < 1 {
				t.Errorf("%d threads were looked at, %d of them the main thread", asked.Load(), given.Load())
			}
			if got, want := s.Stats(), (Stats{Threads: 2, Idle: 2, Retired: 2}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			require.NoError(t, s.Close(context.Background()))
		})
	}
}

// The same with the true main thread, which the scheduler offers when it has no other
// sleeping one.
func TestTrueMainThreadIsNeverUsed(t *testing.T) {
	var given atomic.Int32
	for range 20 {
		s, err := newThreads(Config{Threads: 32})
		require.NoError(t, err)
		s.onMain = func() bool {
			if onMainThread() {
				given.Add(1)
				return true
			}
			return false
		}
		require.NoError(t, s.startAll())
		for range 4 {
			require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) {
				if th.ID() == syscall.Getpid() {
					t.Error("runs on the main thread")
				}
				th.Taint()
			})))
		}
		require.NoError(t, s.Close(context.Background()))
	}
	t.Logf("the main thread was given up %d times (GOMAXPROCS=%d)", given.Load(), runtime.GOMAXPROCS(0))
	if !alive(syscall.Getpid()) {
		t.Fatal("the main thread has ended")
	}
}
