package lane_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
)

// Law: each operation that was admitted counts once, also if it was called off, whenever that was.
func TestOperationsThatAreCalledOffCountOnce(t *testing.T) {
	l := ring(t, slots(4, 2))
	f := openFile(t, "content", 0)
	kinds := []func() lane.Op{
		func() lane.Op { return lane.Op{} },
		func() lane.Op { return lane.Op{Kind: fileop.Sleep, Off: int64(50 * time.Microsecond)} },
		func() lane.Op { return *readOp(f, 7, 0) },
		func() lane.Op { return lane.Op{Kind: fileop.Fsync, File: f} },
	}
	some := func() []lane.Op {
		ops := make([]lane.Op, rand.IntN(9))
		for i := range ops {
			ops[i] = kinds[rand.IntN(len(kinds))]()
		}
		return ops
	}
	var admitted atomic.Uint64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(200))*time.Microsecond)
				ops := some()
				switch rand.IntN(3) {
				case 0:
					for i := range ops {
						if l.Operate(ctx, lane.Call{}, &ops[i]) == nil {
							admitted.Add(1)
						}
					}
				case 1:
					if l.OperateAll(ctx, lane.Call{}, ops) == nil {
						admitted.Add(uint64(len(ops)))
					}
				case 2:
					_ = l.Fiber(ctx, lane.Call{}, func(ctx context.Context) {
						if l.OperateAll(ctx, lane.Call{}, ops) == nil {
							admitted.Add(uint64(len(ops)))
						}
					})
				}
				cancel()
			}
		})
	}
	all.Wait()
	r := l.Stats().Ring
	require.Equal(t, admitted.Load(), r.Served+r.Cached+r.Threads+r.Dropped, "%+v", r)

	require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := l.Operate(ended, lane.Call{}, &lane.Op{}); err != nil {
			t.Error(err)
		}
	}))
	require.Equal(t, r.Dropped+1, l.Stats().Ring.Dropped)
}

// Law: the two queues of a Ring are told apart: each has a number of its own and counts its own
// edges.
func TestTheQueuesOfARingAreToldApart(t *testing.T) {
	var mu sync.Mutex
	var got []lane.Event
	c := slots(1, 1)
	c.Name = "both"
	c.OnEvent = func(e lane.Event) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e)
	}
	l, err := lane.NewRing(c)
	require.NoError(t, err)
	bg := context.Background()
	var all sync.WaitGroup
	busy := func(queue int, hold func() (release func())) {
		release := hold()
		eventually(t, func() bool { return l.Stats().Shards[queue].Queued == 1 })
		release()
		all.Wait()
	}
	for range 2 {
		busy(1, func() func() {
			slot, err := l.Enter(bg, lane.Call{})
			require.NoError(t, err)
			all.Go(func() {
				if next, err := l.Enter(bg, lane.Call{}); err == nil {
					l.Leave(next)
				}
			})
			return func() { l.Leave(slot) }
		})
		busy(0, func() func() {
			slot, ok := l.TryOperation()
			require.True(t, ok)
			all.Go(func() { _ = l.Fiber(bg, lane.Call{}, func(context.Context) {}) })
			return func() { l.LeaveOperation(slot) }
		})
	}
	require.NoError(t, l.Shutdown(bg))
	next := [2]uint64{1, 1}
	for _, e := range got {
		require.Equal(t, "both", e.Lane)
		if e.Kind == lane.Degraded {
			require.Zero(t, e.Shard)
		}
		require.Equal(t, next[e.Shard], e.Seq)
		next[e.Shard]++
	}
	require.GreaterOrEqual(t, next[0], uint64(5))
	require.EqualValues(t, 5, next[1])
}
