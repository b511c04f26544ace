package pinned

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/signal"
)

type empty struct{}

func (empty) Run(*Thread) {}

// bare is one locked goroutine with a Parker each way: the least that a hand-over to
// a thread can cost.
type bare struct {
	call, reply signal.Parker
	task        Task
}

func newBare(b *testing.B) *bare {
	w := &bare{call: signal.NewParker(), reply: signal.NewParker()}
	var over sync.WaitGroup
	over.Go(func() {
		runtime.LockOSThread()
		for {
			w.call.Take()
			if w.task == nil {
				return
			}
			w.task.Run(nil)
			w.reply.Wake()
		}
	})
	b.Cleanup(func() {
		w.task = nil
		w.call.Wake()
		over.Wait()
	})
	return w
}

func (w *bare) run(t Task) {
	w.task = t
	w.call.Wake()
	w.reply.Take()
}

func sixteen() []Task {
	tasks := make([]Task, 16)
	for i := range tasks {
		tasks[i] = empty{}
	}
	return tasks
}

// BenchmarkRatio measures in turns, since where the kernel puts the two threads moves
// all by a factor of five from one second to the next. The figures are ns for a bare
// hand-over, the median of the rounds, and what the others are of that, a task: by
// medians and by means. A second bare one shows how much of that is
// noise. Each has threads of its own, since the kernel learns where to put a thread from
// what it did last.
func BenchmarkRatio(b *testing.B) {
	ctx := context.Background()
	w, again := newBare(b), newBare(b)
	s, batches := open(b, Config{Threads: 1}), open(b, Config{Threads: 1})
	four := open(b, Config{Threads: 4})
	tasks := sixteen()
	shapes := []struct {
		name string
		per  int
		f    func()
	}{
		{"bare", 1, func() { w.run(empty{}) }},
		{"bare-again", 1, func() { again.run(empty{}) }},
		{"run", 1, func() { _ = s.Run(ctx, empty{}) }},
		{"run-of-4", 1, func() { _ = four.Run(ctx, empty{}) }},
		{"batch16", 16, func() { _, _ = batches.RunBatch(ctx, tasks) }},
	}
	const calls = 25
	took := make([][]float64, len(shapes))
	for round := 0; b.Loop(); round++ {
		for k := range shapes {
			k = (k + round) % len(shapes)
			begin := time.Now()
			for range calls {
				shapes[k].f()
			}
			ns := float64(time.Since(begin).Nanoseconds()) / calls / float64(shapes[k].per)
			took[k] = append(took[k], ns)
		}
	}
	mean := func(t []float64) (sum float64) {
		for _, ns := range t {
			sum += ns / float64(len(t))
		}
		return sum
	}
	b.ReportMetric(median(took[0]), "bare-ns")
	for k, sh := range shapes[1:] {
		b.ReportMetric(median(took[k+1])/median(took[0]), sh.name+"/median")
		b.ReportMetric(mean(took[k+1])/mean(took[0]), sh.name+"/mean")
	}
}

func median(t []float64) float64 {
	t = slices.Sorted(slices.Values(t))
	return t[len(t)/2]
}

func BenchmarkBare(b *testing.B) {
	w := newBare(b)
	b.ReportAllocs()
	for b.Loop() {
		w.run(empty{})
	}
}

func BenchmarkRun(b *testing.B) {
	for _, threads := range []int{1, 4} {
		for _, callers := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("threads=%d/callers=%d", threads, callers), func(b *testing.B) {
				s := open(b, Config{Threads: threads})
				b.ReportAllocs()
				b.SetParallelism((callers + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						_ = s.Run(context.Background(), empty{})
					}
				})
			})
		}
	}
}

// ns for a batch, not for a task.
func BenchmarkBatch(b *testing.B) {
	for _, n := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, Config{Threads: 1})
			tasks := slices.Repeat([]Task{empty{}}, n)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.RunBatch(context.Background(), tasks)
			}
		})
	}
}

// What it costs to replace a thread.
func BenchmarkTaint(b *testing.B) {
	s := open(b, Config{Threads: 1})
	taint := Func(func(t *Thread) { t.Taint() })
	for b.Loop() {
		_ = s.Run(context.Background(), taint)
	}
}
