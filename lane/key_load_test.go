package lane_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iolane/iolane/lane"
)

func TestAKeyTakesNoMemoryWhenNobodyUsesIt(t *testing.T) {
	l := threads(t, lane.Config{Workers: 4, PerKey: 2})
	defer shut(t, l)
	use := func(n int) {
		for i := range n {
			l.Leave(take(t, l, lane.Call{Key: fmt.Sprintf("key %d", i)}))
		}
	}
	use(1000)
	before := heap()
	n := count(20_000, 1_000_000)
	use(n)
	if grown := int64(heap()) - int64(before); grown > 64<<10 {
		t.Errorf("%d keys that came and went take %d bytes", n, grown)
	}
}

// heap is the live bytes on the heap.
func heap() uint64 {
	var m runtime.MemStats
	for range 2 { // the second for what a sync.Pool has kept
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestKeysSurviveAnyUseAtOnce(t *testing.T) {
	l := sharded(t, lane.ShardedConfig{Shards: 2, Config: lane.Config{Workers: 2, Queue: 4, PerKey: 1}})
	var inside [3]atomic.Int64
	var calls atomic.Uint64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range count(300, 10_000) {
				k := (i + n) % len(inside)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%50)*10*time.Microsecond)
				calls.Add(1)
				s, err := l.Enter(ctx, lane.Call{Key: string(rune('a' + k)), Policy: lane.Policy(n % 3), Urgent: n%5 == 0})
				if err == nil {
					if got := inside[k].Add(1); got > 3 {
						t.Errorf("%d calls of one key run, where no limit is above 3", got)
					}
					runtime.Gosched()
					inside[k].Add(-1)
					l.Leave(s)
				}
				cancel()
				if n%32 == 0 {
					if err := l.SetKeyLimit(string(rune('a'+k)), n/32%4); err != nil {
						t.Error(err)
					}
					addUp(t, l.Stats())
				}
			}
		})
	}
	wg.Wait()
	shut(t, l)
	s := l.Stats()
	addUp(t, s)
	if s.Submitted != calls.Load() {
		t.Errorf("%d calls submitted, want %d", s.Submitted, calls.Load())
	}
	if s.Running != 0 || s.Queued != 0 || s.Waiting != 0 {
		t.Errorf("at rest: %+v", s)
	}
}
