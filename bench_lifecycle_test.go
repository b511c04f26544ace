package iolane_test

// Creation and shutdown.

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkLifecycle: new, one call, shutdown; the same without a call.
func BenchmarkLifecycle(b *testing.B) {
	for _, calls := range []int{0, 1} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			for _, s := range sides {
				b.Run(s.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						x := s.start(b, bounded(4))
						for range calls {
							_ = x.call(context.Background(), func() error { return nil })
						}
						x.stop()
					}
				})
			}
		})
	}
}

// BenchmarkShutdown: a lane is shut down while its worker runs a call and 256 more
// are queued; all of them run. "close-us" is the shutdown alone.
func BenchmarkShutdown(b *testing.B) {
	const n = 256
	for _, s := range sides {
		if !s.ours || s.name == "inline" { // the others have no queue of their own
			continue
		}
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			var t tally
			var closing time.Duration
			for b.Loop() {
				x := s.start(b, limits{workers: 1, queue: n})
				release := hold(x, 1)
				wait := arrive(n, x, &t, nil, func() error { return nil })
				began := time.Now()
				go release()
				x.stop()
				closing += time.Since(began)
				wait()
			}
			t.report(b)
			b.ReportMetric(float64(closing)/1e3/float64(b.N), "close-us")
		})
	}
}
