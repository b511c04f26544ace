package iolane_test

// Memory under load that lasts.

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// BenchmarkMemory: in each run 64 callers come to held workers, all of them and then
// 15 times more, over 4 workers and a queue of 16, so that all ways to wait occur. Each
// call makes a result of 256 bytes. What is live is measured after a warm-up and at
// the end: memory stays constant if "grown-B" and "grown-objects" do not rise with
// the number of runs.
func BenchmarkMemory(b *testing.B) {
	const callers, calls = 64, 16
	each(b, limits{workers: 4, queue: 16, waiters: 256}, nil, func(b *testing.B, x executor) {
		var last atomic.Pointer[[256]byte]
		fn := func() error { last.Store(new([256]byte)); return nil }
		load := func(t *tally) {
			release := hold(x, 4)
			wait := arrive(callers, x, t, nil, fn)
			release()
			wait()
			crowd(callers, calls-1, x, t, fn)
		}
		var warm, t tally
		for range 20 {
			load(&warm)
		}
		size, objects := live()
		for b.Loop() {
			load(&t)
		}
		endSize, endObjects := live()
		t.report(b)
		b.ReportMetric(float64(size), "start-B")
		b.ReportMetric(float64(objects), "start-objects")
		b.ReportMetric(float64(endSize)-float64(size), "grown-B")
		b.ReportMetric(float64(endObjects)-float64(objects), "grown-objects")
	})
}

// live is what the heap holds. The second collection takes what sync.Pools had kept
// over the first.
func live() (size, objects uint64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, m.HeapObjects
}
