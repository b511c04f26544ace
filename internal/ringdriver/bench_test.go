package ringdriver

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

func bench(b *testing.B, n int, fiber bool) {
	d, err := New(Config{Slots: n})
	require.NoError(b, err)
	var all sync.WaitGroup
	b.ResetTimer()
	for range n {
		all.Go(func() {
			op := &fileop.Op{}
			if !fiber {
				for range b.N / n {
					d.Do(context.Background(), op)
				}
				return
			}
			d.Run(context.Background(), nil, func(ctx context.Context) {
				f := On(ctx)
				for range b.N / n {
					f.Do(ctx, op)
				}
			})
		})
	}
	all.Wait()
	b.StopTimer()
	require.NoError(b, d.Close(context.Background()))
}

func BenchmarkNop64(b *testing.B)      { bench(b, 64, false) }
func BenchmarkNop64Fiber(b *testing.B) { bench(b, 64, true) }
func BenchmarkNop1(b *testing.B)       { bench(b, 1, false) }
func BenchmarkNop1Fiber(b *testing.B)  { bench(b, 1, true) }

func BenchmarkNopBatch(b *testing.B) {
	d, err := New(Config{Slots: 64})
	require.NoError(b, err)
	ops := make([]fileop.Op, b.N)
	b.ResetTimer()
	d.DoAll(context.Background(), ops, nil, 64, nil)
	b.StopTimer()
	require.NoError(b, d.Close(context.Background()))
}
