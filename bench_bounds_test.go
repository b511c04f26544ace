package iolane_test

// Queues, and what happens when they are full.

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// BenchmarkAdmission: 256 callers queued behind a held lane, drained.
func BenchmarkAdmission(b *testing.B) {
	const n = 256
	each(b, limits{workers: 1, queue: n}, nil, func(b *testing.B, x executor) {
		var t tally
		for b.Loop() {
			release := hold(x, 1)
			wait := arrive(n, x, &t, nil, func() error { return nil })
			release()
			wait()
		}
		t.report(b)
	})
}

// BenchmarkReject: a full lane refuses. select-default is a full channel.
func BenchmarkReject(b *testing.B) {
	each(b, limits{workers: 2, queue: -1, failFast: true}, refuses, func(b *testing.B, x executor) {
		release := hold(x, 2)
		defer release()
		if err := x.call(context.Background(), func() error { return nil }); !errors.Is(err, ioerr.ErrQueueFull) {
			b.Fatal("not refused: ", err)
		}
		for b.Loop() {
			_ = x.call(context.Background(), func() error { return nil })
		}
	})
	b.Run("select-default", func(b *testing.B) {
		sem := make(chan struct{}, 1)
		sem <- struct{}{}
		for b.Loop() {
			select {
			case sem <- struct{}{}:
			default:
			}
		}
	})
}

// BenchmarkRejectScenario: the whole life of a small lane: two calls hold the two
// workers, 16 more fill the queue, 100 are refused, the rest runs, shutdown.
func BenchmarkRejectScenario(b *testing.B) {
	l := limits{workers: 2, queue: 16, failFast: true}
	for _, s := range sides {
		if !refuses(s) {
			continue
		}
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			var t tally
			for b.Loop() {
				x := s.start(b, l)
				release := hold(x, l.workers)
				had := t.refused.Load()
				wait := arrive(l.queue+100, x, &t, nil, func() error { return nil })
				for t.refused.Load() < had+100 { // the last ones are still on their way
					runtime.Gosched()
				}
				release()
				wait()
				x.stop()
			}
			t.report(b)
		})
	}
}

// BenchmarkBeyond: 1000 callers at once come to held workers with room for 64 more;
// who got room runs 100 us. Baselines without bounds take all of them.
func BenchmarkBeyond(b *testing.B) {
	const n, d = 1000, 100 * time.Microsecond
	r := rounds(d)
	l := limits{workers: 4, queue: 64, failFast: true}
	each(b, l, nil, func(b *testing.B, x executor) {
		var t tally
		for b.Loop() {
			release := hold(x, l.workers)
			wait := arrive(n, x, &t, nil, func() error { spin(r); return nil })
			release()
			wait()
		}
		t.report(b)
	})
}

// BenchmarkCapacity: callers that wait for room (32 over 2 workers and a queue of
// 16), and a load that the lane has room for.
func BenchmarkCapacity(b *testing.B) {
	for _, w := range []struct {
		name string
		l    limits
		n    int
		d    time.Duration
	}{
		{"wait", limits{workers: 2, queue: 16, waiters: 64}, 32, 100 * time.Microsecond},
		{"sustained", limits{workers: 4, queue: 1000, waiters: 1000}, 1000, 50 * time.Microsecond},
	} {
		r := rounds(w.d)
		b.Run(w.name, func(b *testing.B) {
			each(b, w.l, nil, func(b *testing.B, x executor) {
				var t tally
				for b.Loop() {
					release := hold(x, w.l.workers)
					wait := arrive(w.n, x, &t, nil, func() error { spin(r); return nil })
					release()
					wait()
				}
				t.report(b)
				efficiency(b, w.n, w.d, w.l.workers)
			})
		})
	}
}
