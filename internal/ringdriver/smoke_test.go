package ringdriver

import (
	"context"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

func TestSmoke(t *testing.T) {
	d, err := New(Config{Slots: 64})
	require.NoError(t, err)
	path := t.TempDir() + "/x"
	require.NoError(t, os.WriteFile(path, make([]byte, 1<<20), 0o600))
	f, _ := os.Open(path)
	defer f.Close()
	file := &fileop.File{FD: f.Fd(), Seeks: true}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			buf := make([]byte, 4096)
			for i := range 200 {
				op := &fileop.Op{Kind: fileop.Read, File: file, Buf: buf, Off: int64(i) * 4096}
				d.Do(context.Background(), op)
				if op.N != 4096 || op.Err != nil {
					t.Error(op.N, op.Err)
				}
			}
		})
		wg.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				buf := make([]byte, 4096)
				f := On(ctx)
				for i := range 200 {
					op := &fileop.Op{Kind: fileop.Read, File: file, Buf: buf, Off: int64(i) * 4096}
					f.Do(ctx, op)
					if op.N != 4096 || op.Err != nil {
						t.Error(op.N, op.Err)
					}
				}
			})
		})
	}
	wg.Wait()
	t.Log(d.Stats())
	require.NoError(t, d.Close(context.Background()))
}

func TestSmokeMutex(t *testing.T) {
	d, err := New(Config{Slots: 64})
	require.NoError(t, err)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) {
				f := On(ctx)
				for range 100 {
					mu.Lock()
					f.Do(ctx, &fileop.Op{})
					mu.Unlock()
				}
			})
		})
	}
	for range 4 {
		wg.Go(func() {
			defer func() { recover() }()
			d.Run(context.Background(), nil, func(ctx context.Context) { On(ctx).Do(ctx, &fileop.Op{}); panic("x") })
		})
		wg.Go(func() {
			d.Run(context.Background(), nil, func(ctx context.Context) { On(ctx).Do(ctx, &fileop.Op{}); runtime.Goexit() })
		})
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			d.Run(ctx, nil, func(ctx context.Context) {
				op := &fileop.Op{Kind: fileop.Sleep, Off: 1e12}
				On(ctx).Do(ctx, op)
				if op.Err != fileop.ErrCancelled {
					t.Error(op.Err)
				}
			})
		})
	}
	wg.Wait()
	t.Log(d.Stats())
	require.NoError(t, d.Close(context.Background()))
}

func bench(b *testing.B, n int, fiber bool) {
	d, err := New(Config{Slots: n})
	require.NoError(b, err)
	var wg sync.WaitGroup
	b.ResetTimer()
	for range n {
		wg.Go(func() {
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
	wg.Wait()
	b.StopTimer()
	d.Close(context.Background())
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
	d.Close(context.Background())
}
