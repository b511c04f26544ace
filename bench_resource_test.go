package iolane_test

// Resources of a pool: their life, and callers that want the same one.

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// resources runs a benchmark on a pool over each kind of lane.
func resources(b *testing.B, run func(*testing.B, *pool.Pool[*int])) {
	for _, s := range []struct {
		name string
		make func() lane.Lane
	}{
		{"threads", func() lane.Lane { return must(lane.NewThreads(lane.Config{Workers: 4})) }},
		{"sharded", func() lane.Lane {
			return must(lane.NewSharded(lane.ShardedConfig{Shards: 4, Config: lane.Config{Workers: 1}}))
		}},
		{"inline", func() lane.Lane { return lane.NewInline("") }},
	} {
		b.Run(s.name, func(b *testing.B) {
			p := must(pool.New(pool.Config[*int]{Lane: s.make(), OwnsLane: true}))
			defer p.Close()
			b.ReportAllocs()
			run(b, p)
		})
	}
}

// BenchmarkResource: looking for a resource that is not there, and one that comes
// and goes. Each has a map under a mutex for its baseline.
func BenchmarkResource(b *testing.B) {
	ctx := context.Background()
	b.Run("unknown", func(b *testing.B) {
		table := struct {
			sync.Mutex
			of map[uint64]*int
		}{of: make(map[uint64]*int)}
		b.Run("map", func(b *testing.B) {
			for b.Loop() {
				table.Lock()
				_, ok := table.of[1]
				table.Unlock()
				if ok {
					b.Fatal("found")
				}
			}
		})
		resources(b, func(b *testing.B, p *pool.Pool[*int]) {
			id := must(p.Adopt(new(int)))
			_ = must(p.Adopt(new(int))) // the table is not empty
			if err := p.Destroy(ctx, id); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if p.Has(id) {
					b.Fatal("found")
				}
			}
		})
	})
	b.Run("churn", func(b *testing.B) {
		b.Run("map", func(b *testing.B) {
			b.ReportAllocs()
			var mu sync.Mutex
			table := make(map[uint64]*int)
			var id uint64
			for b.Loop() {
				mu.Lock()
				id++
				table[id] = new(int)
				mu.Unlock()
				mu.Lock()
				delete(table, id)
				mu.Unlock()
			}
		})
		resources(b, func(b *testing.B, p *pool.Pool[*int]) {
			for b.Loop() {
				id := must(p.Register(ctx, func(context.Context) (*int, error) { return new(int), nil }))
				if err := p.Destroy(ctx, id); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// BenchmarkTransaction: 1, 8 and 64 callers that want one resource, 16 transactions
// each. The baselines do not wait for a slot beside the resource.
func BenchmarkTransaction(b *testing.B) {
	ctx := context.Background()
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.Run("mutex", func(b *testing.B) {
				var mu sync.Mutex
				transactions(b, callers, func(_ context.Context, fn func() error) error {
					mu.Lock()
					defer mu.Unlock()
					return fn()
				})
			})
			b.Run("semaphore", func(b *testing.B) {
				sem := make(chan struct{}, 1)
				transactions(b, callers, func(ctx context.Context, fn func() error) error {
					select {
					case sem <- struct{}{}:
					case <-ctx.Done():
						return ctx.Err()
					}
					defer func() { <-sem }()
					return fn()
				})
			})
			resources(b, func(b *testing.B, p *pool.Pool[*int]) {
				id := must(p.Adopt(new(int)))
				transactions(b, callers, func(ctx context.Context, fn func() error) error {
					return p.With(ctx, id, func(context.Context, *int) error { return fn() })
				})
				if err := p.Destroy(ctx, id); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// transactions has so many callers come while the resource is held, and return 15
// times.
func transactions(b *testing.B, callers int, call func(context.Context, func() error) error) {
	b.ReportAllocs()
	x := executor{call: call}
	var t tally
	n := 0 // plain, so that the race detector would see two in one
	fn := func() error { n++; return nil }
	for b.Loop() {
		release := hold(x, 1)
		wait := arrive(callers, x, &t, nil, fn)
		release()
		wait()
		crowd(callers, 15, x, &t, fn)
	}
	t.report(b)
}
