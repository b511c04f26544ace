package lanegate

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

// semaphore is what the benchmarks compare: a gate and two of the usual ways to
// bound a number of calls, all behind the same two function values.
type semaphore struct {
	name  string
	enter func() Slot
	leave func(Slot)
}

func semaphores(slots int) []semaphore {
	of := func(name string, patience time.Duration) semaphore {
		g := newGate(Config{Slots: slots, Queue: 1024, Patience: patience})
		return semaphore{name, func() Slot {
			s, ok := g.Try()
			if !ok {
				s, _ = g.Acquire(context.Background(), &Request{})
			}
			return s
		}, func(s Slot) { s.Release() }}
	}
	tokens := make(chan struct{}, slots)
	var (
		mu   sync.Mutex
		cond = sync.NewCond(&mu)
		free = slots
	)
	return []semaphore{
		of("gate", ms),
		of("strict", strict),
		{"channel", func() Slot { tokens <- struct{}{}; return Slot{} }, func(Slot) { <-tokens }},
		{"mutex", func() Slot {
			mu.Lock()
			for free == 0 {
				cond.Wait()
			}
			free--
			mu.Unlock()
			return Slot{}
		}, func(Slot) {
			mu.Lock()
			free++
			mu.Unlock()
			cond.Signal()
		}},
	}
}

func BenchmarkAlone(b *testing.B) {
	for _, s := range semaphores(8) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.leave(s.enter())
			}
		})
	}
}

func BenchmarkTwoWithSlotsToSpare(b *testing.B) {
	for _, s := range semaphores(8) {
		b.Run(s.name, func(b *testing.B) { callers(b, s, 2, func() {}) })
	}
}

func Benchmark64Over4(b *testing.B) {
	for _, s := range semaphores(4) {
		b.Run("short/"+s.name, func(b *testing.B) { callers(b, s, 64, func() {}) })
		b.Run("yield/"+s.name, func(b *testing.B) { callers(b, s, 64, runtime.Gosched) })
	}
}

// callers makes b.N calls from n goroutines.
func callers(b *testing.B, s semaphore, n int, body func()) {
	b.ReportAllocs()
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range n {
		wg.Go(func() {
			for range (b.N + i) / n {
				at := s.enter()
				body()
				s.leave(at)
			}
		})
	}
	wg.Wait()
}

// 256 callers come to one slot that is taken, and go through it one by one.
func BenchmarkDrain256(b *testing.B) {
	const n = 256
	for _, s := range semaphores(1) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			var wg sync.WaitGroup
			begin := make(chan struct{})
			for range n {
				go func() {
					for range begin {
						s.leave(s.enter())
						wg.Done()
					}
				}()
			}
			b.ResetTimer()
			for range b.N {
				wg.Add(n)
				at := s.enter()
				for range n {
					begin <- struct{}{}
				}
				runtime.Gosched() // most of them stand in line now
				s.leave(at)
				wg.Wait()
			}
			b.StopTimer()
			close(begin)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
		})
	}
}
