package lanegate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestStress(t *testing.T) {
	for _, patience := range []time.Duration{-1, time.Millisecond, 20 * time.Microsecond} {
		for _, slots := range []int{1, 2, 3, 8} {
			for _, grouped := range []bool{false, true} {
				t.Run(fmt.Sprint(patience, slots, grouped), func(t *testing.T) {
					cfg := Config{Slots: slots, Queue: 20, Waiters: 20, Patience: patience, Tickets: new(Tickets)}
					gates := []*Gate{New(cfg)}
					if grouped {
						gates = append(gates, New(cfg), New(cfg))
						Join(gates)
					}
					var running, done, failed atomic.Int64
					var wg sync.WaitGroup
					for i := range 48 {
						wg.Go(func() {
							for range 400 {
								ctx, cancel := context.Background(), func() {}
								switch rand.IntN(4) {
								case 0:
									ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(200))*time.Microsecond)
								case 1:
									c, cf := context.WithCancel(ctx)
									ctx, cancel = c, cf
									go func() { runtime.Gosched(); cf() }()
								}
								s, v := gates[i%len(gates)].Acquire(ctx, Request{Urgent: rand.IntN(8) == 0})
								if v == Granted {
									if n := running.Add(1); n > int64(slots*len(gates)) {
										t.Error("over the bound", n)
									}
									switch rand.IntN(3) {
									case 1:
										runtime.Gosched()
									case 2:
										time.Sleep(time.Duration(rand.IntN(20)) * time.Microsecond)
									}
									running.Add(-1)
									s.Release()
									done.Add(1)
								} else {
									failed.Add(1)
								}
								cancel()
							}
						})
					}
					ok := make(chan struct{})
					go func() { wg.Wait(); close(ok) }()
					select {
					case <-ok:
					case <-time.After(20 * time.Second):
						t.Fatal("hangs", running.Load(), done.Load(), failed.Load())
					}
					var started uint64
					for _, g := range gates {
						s := g.Stats()
						started += s.Started
						if s.Running != 0 || s.Queued+s.Waiting != 0 || g.flags.Load() != 0 {
							t.Error(s)
						}
					}
					if started != uint64(done.Load()) {
						t.Error(started, done.Load())
					}
				})
			}
		}
	}
}

func BenchmarkTry(b *testing.B) {
	g := New(Config{Slots: 8, Queue: 20, Waiters: 20, Patience: time.Millisecond, Tickets: new(Tickets)})
	for b.Loop() {
		s, _ := g.Try()
		s.Release()
	}
}
func BenchmarkLoop64(b *testing.B) {
	for _, p := range []time.Duration{-1, time.Millisecond} {
		b.Run(fmt.Sprint(p), func(b *testing.B) {
			g := New(Config{Slots: 4, Queue: 256, Waiters: 20, Patience: p, Tickets: new(Tickets)})
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s, ok := g.Try()
					if !ok {
						s, _ = g.Acquire(context.Background(), Request{})
					}
					runtime.Gosched()
					s.Release()
				}
			})
		})
	}
}
