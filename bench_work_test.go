package iolane_test

// Throughput and contention of work that keeps a processor busy.

import (
	"context"
	"testing"
	"time"
)

// BenchmarkSequential: 1000 calls of 10 us one after another.
func BenchmarkSequential(b *testing.B) {
	const n, d = 1000, 10 * time.Microsecond
	r := rounds(d)
	each(b, bounded(4), nil, func(b *testing.B, x executor) {
		var t tally
		for b.Loop() {
			for range n {
				t.count(x.call(context.Background(), func() error { spin(r); return nil }))
			}
		}
		t.report(b)
		efficiency(b, n, d, 1)
	})
}

// rooms are the two capacities for n calls. Callers are refused only in the bounded
// one, so it has a baseline that refuses too, and its figures are its own.
func rooms(workers, n int) []room {
	return []room{
		{"matched", matched(workers, n), nil},
		{"bounded", bounded(workers), refuses},
	}
}

type room struct {
	name  string
	l     limits
	sides func(side) bool
}

// BenchmarkConcurrent: many calls, each by a goroutine that has just begun. On few
// processors most of them find a free worker, for they begin one after another.
func BenchmarkConcurrent(b *testing.B) {
	for _, w := range []struct {
		name       string
		n, workers int
		d          time.Duration
	}{
		{"1000x10us", 1000, 4, 10 * time.Microsecond},
		{"100x1ms", 100, 4, time.Millisecond},
	} {
		r := rounds(w.d)
		for _, room := range rooms(w.workers, w.n) {
			b.Run(w.name+"/"+room.name, func(b *testing.B) {
				each(b, room.l, room.sides, func(b *testing.B, x executor) {
					var t tally
					for b.Loop() {
						burst(w.n, x, &t, func() error { spin(r); return nil })
					}
					t.report(b)
					efficiency(b, w.n, w.d, w.workers)
				})
			})
		}
	}
}

// BenchmarkContention: so many calls for each worker, which all come while the
// workers are held, whatever the number of processors, and then run.
func BenchmarkContention(b *testing.B) {
	for _, w := range []struct {
		name       string
		n, workers int
		d          time.Duration
	}{
		{"10to1", 40, 4, 100 * time.Microsecond},
		{"100to1", 400, 4, 50 * time.Microsecond},
		{"500to1", 2000, 4, 10 * time.Microsecond},
		{"1000to1", 4000, 4, 10 * time.Microsecond},
		{"1000to1-2workers", 2000, 2, 10 * time.Microsecond},
	} {
		r := rounds(w.d)
		for _, room := range rooms(w.workers, w.n) {
			b.Run(w.name+"/"+room.name, func(b *testing.B) {
				each(b, room.l, room.sides, func(b *testing.B, x executor) {
					var t tally
					var l latency
					for b.Loop() {
						release := hold(x, w.workers)
						wait := arrive(w.n, x, &t, &l, func() error { spin(r); return nil })
						release()
						wait()
					}
					t.report(b)
					l.report(b)
					if t.refused.Load() == 0 {
						efficiency(b, w.n, w.d, w.workers)
					}
				})
			})
		}
	}
}

// BenchmarkMixed: a caller makes 1000 calls of 1 us beside one of 10 ms that another
// caller makes, over 2 workers. The times are those of the short calls: they show
// whether some of them wait for the long one.
func BenchmarkMixed(b *testing.B) {
	const n, short, long = 1000, time.Microsecond, 10 * time.Millisecond
	r, rl := rounds(short), rounds(long)
	each(b, bounded(2), nil, func(b *testing.B, x executor) {
		var t tally
		var l latency
		for b.Loop() {
			begun := make(chan struct{})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				t.count(x.call(context.Background(), func() error { close(begun); spin(rl); return nil }))
			}()
			<-begun
			for range n {
				began := l.start()
				err := x.call(context.Background(), func() error { spin(r); return nil })
				l.stop(began)
				t.count(err)
			}
			<-ended
		}
		t.report(b)
		l.report(b)
	})
}
