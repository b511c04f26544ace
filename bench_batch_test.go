package iolane_test

// Calls side by side, and many calls on one resource.

import (
	"context"
	"sync"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// BenchmarkBeside: 64 empty calls at a time beside their caller, on a pool of 8, in ns for each
// call; beside goroutines with a semaphore.
func BenchmarkBeside(b *testing.B) {
	const size, slots = 64, 8
	ctx := context.Background()
	fn := func(context.Context) (int, error) { return 1, nil }
	each := func(b *testing.B, all func(b *testing.B)) {
		b.ReportAllocs()
		for range b.N / size {
			all(b)
		}
	}
	b.Run("batch", func(b *testing.B) {
		p := beside(b, slots)
		batch, err := pool.NewBatch[int](ctx, p, size)
		if err != nil {
			b.Fatal(err)
		}
		defer batch.Cancel()
		each(b, func(b *testing.B) {
			for range size {
				if _, err := batch.Add(fn); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := batch.Await(ctx, size); err != nil {
				b.Fatal(err)
			}
			for range size {
				batch.Next()
			}
		})
	})
	b.Run("async", func(b *testing.B) {
		p := beside(b, slots)
		futures := make([]*pool.Future[int], size)
		each(b, func(b *testing.B) {
			for i := range futures {
				futures[i] = pool.Async(ctx, p, fn)
			}
			for _, f := range futures {
				if _, err := f.Await(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("group", func(b *testing.B) {
		p := beside(b, slots)
		g, err := p.Group(pool.GroupConfig{})
		if err != nil {
			b.Fatal(err)
		}
		each(b, func(b *testing.B) {
			for range size {
				if err := g.Go(ctx, func(context.Context) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			if err := g.Wait(ctx); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("goroutines", func(b *testing.B) {
		sem := make(chan struct{}, slots)
		each(b, func(*testing.B) {
			var wg sync.WaitGroup
			for range size {
				sem <- struct{}{}
				wg.Go(func() { _, _ = fn(ctx); <-sem })
			}
			wg.Wait()
		})
	})
}

func beside(b *testing.B, slots int) *pool.Pool[*int] {
	p, err := pool.New(pool.Config[*int]{Threads: lane.Config{Workers: slots}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
	return p
}

// BenchmarkOnHandle: 64 calls on one resource, in ns for each; in one transaction or in as many,
// where nobody else wants the resource, and where somebody does.
func BenchmarkOnHandle(b *testing.B) {
	const size = 64
	ctx := context.Background()
	add := func(_ context.Context, n *int) (int, error) { *n++; return *n, nil }
	for _, contended := range []bool{false, true} {
		name := "alone"
		if contended {
			name = "beside another"
		}
		b.Run(name, func(b *testing.B) {
			run := func(b *testing.B, all func(b *testing.B, p *pool.Pool[*int], id handle.ID, batch *pool.BatchOn[int, *int])) {
				p := beside(b, 4)
				id, err := p.Adopt(new(int))
				if err != nil {
					b.Fatal(err)
				}
				batch, err := pool.NewBatchOn[int](p, id, size)
				if err != nil {
					b.Fatal(err)
				}
				var other sync.WaitGroup
				done := make(chan struct{})
				if contended {
					other.Go(func() {
						for {
							select {
							case <-done:
								return
							default:
								_, _ = pool.Transact(ctx, p, id, add)
							}
						}
					})
				}
				b.ReportAllocs()
				for range b.N / size {
					all(b, p, id, batch)
				}
				close(done)
				other.Wait()
			}
			b.Run("batch", func(b *testing.B) {
				run(b, func(b *testing.B, _ *pool.Pool[*int], _ handle.ID, batch *pool.BatchOn[int, *int]) {
					for range size {
						if _, err := batch.Add(add); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := batch.Run(ctx); err != nil {
						b.Fatal(err)
					}
					for range size {
						batch.Next()
					}
				})
			})
			b.Run("transactions", func(b *testing.B) {
				run(b, func(b *testing.B, p *pool.Pool[*int], id handle.ID, _ *pool.BatchOn[int, *int]) {
					for range size {
						if _, err := pool.Transact(ctx, p, id, add); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		})
	}
}
