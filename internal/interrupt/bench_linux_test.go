//go:build linux && (amd64 || 386 || arm64)

package interrupt_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// report adds the median and the 99th of a hundred to the line of the benchmark.
func report(b *testing.B, d []time.Duration) {
	slices.Sort(d)
	us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	b.ReportMetric(us(d[len(d)/2]), "p50-us")
	b.ReportMetric(us(d[len(d)*99/100]), "p99-us")
}

// settle is how long a call or a goroutine is left alone until it surely blocks.
const settle = 200 * time.Microsecond

// From Interrupt until the goroutine of the call has the result in hand: a read of
// an empty pipe. Beside it a goroutine that is parked on a channel, and one that is
// locked to its thread and parked, which is what an interrupted one is to the
// scheduler.
func BenchmarkLatency(b *testing.B) {
	b.Run("interrupt", func(b *testing.B) {
		s := taken(b)
		r, _ := pipe(b)
		measure(b, func(begun func(wake func())) {
			c := interrupt.NewCall(s)
			begun(func() { _ = c.Interrupt(context.Background()) })
			if _, err := rawio.Read(c, r, make([]byte, 1)); !errors.Is(err, interrupt.ErrInterrupted) {
				b.Error(err)
			}
		})
	})
	for _, locked := range []bool{false, true} {
		name := "channel"
		if locked {
			name = "channel, locked"
		}
		b.Run(name, func(b *testing.B) {
			measure(b, func(begun func(wake func())) {
				if locked {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				woken := make(chan struct{})
				begun(func() { close(woken) })
				<-woken
			})
		})
	}
}

// measure runs sleep on a goroutine of its own, wakes it when it sleeps, and takes
// the time until it says so.
func measure(b *testing.B, sleep func(begun func(wake func()))) {
	var all []time.Duration
	start := make(chan struct{})
	wakes := make(chan func())
	awake := make(chan time.Time)
	go func() {
		defer close(awake)
		for range start {
			sleep(func(wake func()) { wakes <- wake })
			awake <- time.Now()
		}
	}()
	for b.Loop() {
		start <- struct{}{}
		wake := <-wakes
		time.Sleep(settle)
		begin := time.Now()
		wake()
		all = append(all, (<-awake).Sub(begin))
	}
	close(start)
	<-awake
	report(b, all)
}

// What a call pays that nobody interrupts.
func BenchmarkSection(b *testing.B) {
	s := taken(b)
	b.ReportAllocs()
	c := interrupt.NewCall(s)
	for b.Loop() {
		if c.Enter() == nil {
			c.Leave()
		}
	}
}

// What it pays to be interrupted by a context.
func BenchmarkWatch(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := taken(b)
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		c := interrupt.NewCall(s)
		for b.Loop() {
			c.Watch(ctx)()
		}
	})
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		var set interrupt.Set
		defer set.Watch(ctx)()
		c := interrupt.NewCall(s)
		for b.Loop() {
			set.Add(c)
			set.Remove(c)
		}
	})
}
