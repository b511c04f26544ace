package lane_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
)

func TestGrowingLetsWaitersInAtOnce(t *testing.T) {
	for _, c := range []lane.Config{{Workers: 1}, {Workers: 1, Patience: lane.Strict}, {Workers: 3, Reserved: 2}} {
		bubble(t, func(t testing.TB) lane.Lane { return threads(t, c) }, func(t *testing.T, w *crew) {
			w.sendAll(100, lane.Call{})
			for _, n := range []int{c.Workers + 1, 10, 11, 64} {
				require.NoError(t, w.lane.(*lane.Threads).Resize(n))
				synctest.Wait()
				if got, want := w.inside.Load(), int64(n-c.Reserved); got != want {
					t.Errorf("%+v: %d calls run after Resize(%d), want %d", c, got, n, want)
				}
			}
		})
	}
}

func TestShrinkingInterruptsNobodyAndLetsNobodyInUntilThereIsRoom(t *testing.T) {
	for _, c := range []lane.Config{{Workers: 8}, {Workers: 8, Patience: lane.Strict}, {Workers: 9, Reserved: 1}} {
		bubble(t, func(t testing.TB) lane.Lane { return threads(t, c) }, func(t *testing.T, w *crew) {
			all := w.sendAll(16, lane.Call{})
			require.NoError(t, w.lane.(*lane.Threads).Resize(3+c.Reserved))
			wantInside(t, true, all[:8]...)
			for i := range 8 {
				all[i].dismiss()
				synctest.Wait()
				if got, want := w.inside.Load(), int64(max(7-i, 3)); got != want {
					t.Errorf("%+v: %d calls run after %d have left, want %d", c, got, i+1, want)
				}
			}
			if s := w.lane.Stats(); s.Workers != 3+c.Reserved || s.Running != 3 || s.Queued != 5 {
				t.Errorf("%d workers, %d running, %d queued; want %d, 3, 5", s.Workers, s.Running, s.Queued, 3+c.Reserved)
			}
		})
	}
}

func TestShrinkingAndGrowingAgainGivesBackWhatWasTaken(t *testing.T) {
	bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: 8}) }, func(t *testing.T, w *crew) {
		l := w.lane.(*lane.Threads)
		for _, n := range []int{1, 8, 2, 3, 1, 100, 8, 7} {
			require.NoError(t, l.Resize(n))
			w.sendAll(n+5, lane.Call{})
			if got := w.inside.Load(); got != int64(n) {
				t.Errorf("%d calls run after Resize(%d)", got, n)
			}
			w.disband()
		}
	})
}

func TestEveryShardIsResized(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return sharded(t, lane.ShardedConfig{Shards: 4, Config: lane.Config{Workers: 1}})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		w.sendAll(50, lane.Call{})
		for _, n := range []int{2, 5} {
			require.NoError(t, w.lane.(*lane.Sharded).Resize(n))
			synctest.Wait()
			if got, want := w.inside.Load(), int64(4*n); got != want {
				t.Errorf("%d calls run after Resize(%d), want %d", got, n, want)
			}
			for i, s := range w.lane.Stats().Shards {
				if s.Workers != n {
					t.Errorf("shard %d has %d workers, want %d", i, s.Workers, n)
				}
			}
		}
	})
}

// The bound under which a call starts is never above the largest that was in
// force while it entered; and nothing is lost on the way.
func TestResizingUnderLoadNeverExceedsTheLargestBound(t *testing.T) {
	l := threads(t, lane.Config{Workers: 4, Queue: 64})
	w := &crew{lane: l}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for !stop.Load() {
				s, err := l.Enter(context.Background(), lane.Call{})
				if err != nil {
					t.Error(err)
					return
				}
				w.begin()
				runtime.Gosched()
				w.inside.Add(-1)
				l.Leave(s)
			}
		})
	}
	for i := range count(2_000, 200_000) {
		require.NoError(t, l.Resize(1+i%6))
		addUp(t, l.Stats())
	}
	stop.Store(true)
	wg.Wait()
	if got := w.peak.Load(); got > 6 {
		t.Errorf("%d calls ran at a time, and the bound was at most 6", got)
	}
	require.NoError(t, l.Resize(5))
	wantFree(t, l, 5)
	shut(t, l)
}

// wantFree checks that n slots are free, and no more.
func wantFree(t *testing.T, l lane.Lane, n int) {
	t.Helper()
	var slots []lane.Slot
	for {
		s, err := l.Enter(context.Background(), lane.Call{NoWait: true})
		if err != nil {
			break
		}
		slots = append(slots, s)
	}
	if len(slots) != n {
		t.Errorf("%d slots are free, want %d", len(slots), n)
	}
	for _, s := range slots {
		l.Leave(s)
	}
}
