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
