package iolane_test

// Throughput, contention, backpressure, cancellation, life cycle and memory.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
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

// BenchmarkConcurrent: many calls at once. 1000 x 10 us, 100 x 1 ms, and the
// contention of 10, 100, 500 and 1000 calls for each of 4 workers (500 also as
// 2000 calls over 2 workers would make it 1000).
func BenchmarkConcurrent(b *testing.B) {
	for _, w := range []struct {
		name       string
		n, workers int
		d          time.Duration
	}{
		{"1000x10us", 1000, 4, 10 * time.Microsecond},
		{"100x1ms", 100, 4, time.Millisecond},
		{"10to1", 40, 4, 100 * time.Microsecond},
		{"100to1", 400, 4, 50 * time.Microsecond},
		{"500to1", 2000, 4, 10 * time.Microsecond},
		{"1000to1", 4000, 4, 10 * time.Microsecond},
		{"1000to1-2workers", 2000, 2, 10 * time.Microsecond},
	} {
		r := rounds(w.d)
		for _, room := range []struct {
			name string
			limits
		}{{"matched", matched(w.workers, w.n)}, {"bounded", bounded(w.workers)}} {
			want := ours
			if room.name == "matched" {
				want = nil
			}
			b.Run(w.name+"/"+room.name, func(b *testing.B) {
				each(b, room.limits, want, func(b *testing.B, x executor) {
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

// BenchmarkDispatch: one call that does nothing: with a background and with a
// cancellable context, from all processors at once, returning an error, returning
// 1 KiB.
func BenchmarkDispatch(b *testing.B) {
	bg := context.Background()
	cancellable, cancel := context.WithCancel(bg)
	defer cancel()
	fail := errors.New("no")
	var kib [1024]byte
	for _, w := range []struct {
		name string
		ctx  context.Context
		fn   func() error
	}{
		{"success", bg, func() error { return nil }},
		{"cancellable", cancellable, func() error { return nil }},
		{"failure", bg, func() error { return fail }},
		{"1KiB", bg, func() error { kib = [1024]byte{1}; return nil }},
	} {
		b.Run(w.name, func(b *testing.B) {
			each(b, bounded(4), nil, func(b *testing.B, x executor) {
				for b.Loop() {
					_ = x.call(w.ctx, w.fn)
				}
			})
		})
	}
	sink.Add(uint64(kib[0]))
	b.Run("parallel", func(b *testing.B) {
		each(b, bounded(8), nil, func(b *testing.B, x executor) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_ = x.call(bg, func() error { return nil })
				}
			})
		})
	})
}

// hold occupies all workers of x until release is called.
func hold(x executor, workers int) (release func()) {
	gate := make(chan struct{})
	var in, out sync.WaitGroup
	in.Add(workers)
	for range workers {
		out.Go(func() {
			_ = x.call(context.Background(), func() error { in.Done(); <-gate; return nil })
		})
	}
	in.Wait()
	return func() { close(gate); out.Wait() }
}

// BenchmarkAdmission: 256 callers queued behind a held lane, drained.
func BenchmarkAdmission(b *testing.B) {
	const n = 256
	each(b, limits{workers: 1, queue: n}, waiting, func(b *testing.B, x executor) {
		var t tally
		for b.Loop() {
			release := hold(x, 1)
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { t.count(x.call(context.Background(), func() error { return nil })) })
			}
			release()
			wg.Wait()
		}
		t.report(b)
	})
}

// BenchmarkReject: a full lane refuses.
func BenchmarkReject(b *testing.B) {
	each(b, limits{workers: 2, queue: -1, failFast: true}, ours, func(b *testing.B, x executor) {
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

// BenchmarkCapacity: waiting for room (32 calls over 2 workers and a queue of 16),
// sustained within it, and beyond it with refusals.
func BenchmarkCapacity(b *testing.B) {
	for _, w := range []struct {
		name string
		l    limits
		n    int
		d    time.Duration
	}{
		{"wait", limits{workers: 2, queue: 16, waiters: 64}, 32, 100 * time.Microsecond},
		{"sustained", limits{workers: 4, queue: 1000, waiters: 1000}, 1000, 50 * time.Microsecond},
		{"beyond", limits{workers: 4, queue: 64, waiters: 128, failFast: true}, 1000, 100 * time.Microsecond},
	} {
		r := rounds(w.d)
		b.Run(w.name, func(b *testing.B) {
			each(b, w.l, ours, func(b *testing.B, x executor) {
				var t tally
				for b.Loop() {
					burst(w.n, x, &t, func() error { spin(r); return nil })
				}
				t.report(b)
				if t.refused.Load() == 0 {
					efficiency(b, w.n, w.d, w.l.workers)
				}
			})
		})
	}
}

// BenchmarkCancel: one caller cancelled while it waits, one while it runs, and 100
// waiting callers at once.
func BenchmarkCancel(b *testing.B) {
	b.Run("waiting", func(b *testing.B) {
		each(b, limits{workers: 2, queue: 8}, waiting, func(b *testing.B, x executor) {
			release := hold(x, 2)
			defer release()
			for b.Loop() {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				if err := x.call(ctx, func() error { return nil }); !errors.Is(err, context.Canceled) {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("running", func(b *testing.B) {
		r := rounds(50 * time.Microsecond)
		each(b, bounded(4), waiting, func(b *testing.B, x executor) {
			for b.Loop() {
				ctx, cancel := context.WithCancel(context.Background())
				if err := x.call(ctx, func() error { cancel(); spin(r); return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("batch-100", func(b *testing.B) {
		each(b, limits{workers: 1, queue: 100}, waiting, func(b *testing.B, x executor) {
			release := hold(x, 1)
			defer release()
			for b.Loop() {
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				for range 100 {
					wg.Go(func() { _ = x.call(ctx, func() error { return nil }) })
				}
				cancel()
				wg.Wait()
			}
		})
	})
}

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
