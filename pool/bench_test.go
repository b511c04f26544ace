package pool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// What one call costs, uncontended.
func BenchmarkCall(b *testing.B) {
	b.Run("own lane", func(b *testing.B) { benchCalls(b, pool.Config[int]{}) })
	b.Run("shared lane", func(b *testing.B) { benchCalls(b, pool.Config[int]{Lane: lane.NewInline("")}) })
	b.Run("watched", func(b *testing.B) {
		benchCalls(b, pool.Config[int]{Watch: pool.Watch{Slow: time.Hour, Queue: time.Hour}})
	})
	b.Run("judged", func(b *testing.B) { benchCalls(b, pool.Config[int]{Health: pool.HealthRules{Slow: time.Hour}}) })
	b.Run("interruptible", func(b *testing.B) { benchCalls(b, pool.Config[int]{Interrupt: func(int) {}}) })
}

func benchCalls(b *testing.B, c pool.Config[int]) {
	p := makePool(b, c)
	defer p.Close()
	cancellable, cancel := context.WithCancel(bg)
	defer cancel()
	failure := errors.New("failure")
	id := adopt(b, p, 1)
	x := 0
	call := func(context.Context) (int, error) { x++; return x, nil }
	for _, bench := range []struct {
		name string
		call func() (int, error)
	}{
		{"background", func() (int, error) { return pool.Run(bg, p, call) }},
		{"cancellable", func() (int, error) { return pool.Run(cancellable, p, call) }},
		{"label", func() (int, error) { return pool.Run(bg, p, call, pool.Label("x")) }},
		{"fail fast", func() (int, error) { return pool.Run(bg, p, call, pool.FailFast) }},
		{"failure", func() (int, error) {
			return pool.Run(bg, p, func(context.Context) (int, error) { return 0, failure })
		}},
		{"transaction", func() (int, error) {
			return pool.Transact(bg, p, id, func(_ context.Context, n int) (int, error) { x += n; return x, nil })
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = bench.call()
			}
		})
	}
}
