package lane_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
)

func benchmarkNops(b *testing.B, callers int, fiber bool) {
	l, err := lane.NewRing(lane.RingConfig{Config: lane.Config{Workers: callers}, Required: true})
	require.NoError(b, err)
	defer func() { require.NoError(b, l.Shutdown(context.Background())) }()
	var all sync.WaitGroup
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			run := func(ctx context.Context) {
				op := new(lane.Op)
				for range b.N / callers {
					if l.Operate(ctx, lane.Call{}, op) != nil {
						b.Error("refused")
					}
				}
			}
			if !fiber {
				run(context.Background())
				return
			}
			_ = l.Fiber(context.Background(), lane.Call{}, run)
		})
	}
	all.Wait()
}

func BenchmarkRingNopGoroutines(b *testing.B) { benchmarkNops(b, 64, false) }
func BenchmarkRingNopFibers(b *testing.B)     { benchmarkNops(b, 64, true) }
func BenchmarkRingNopAlone(b *testing.B)      { benchmarkNops(b, 1, false) }
