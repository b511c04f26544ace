package iolane_test

// What the benchmarks measure: work of a fixed size, outcomes, the ideal.

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// spin is CPU work of a fixed size: so many rounds, not so much time, since a
// loop on the clock would do less work while its thread is not running.
func spin(rounds int) {
	x := uint64(1)
	for range rounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink.Store(x)
}

var sink atomic.Uint64

// rounds is how many rounds of spin take d, from the fastest of several tries.
func rounds(d time.Duration) int {
	calibrate.Do(func() {
		const n = 200_000
		best := time.Hour
		for range 20 {
			t := time.Now()
			spin(n)
			best = min(best, time.Since(t))
		}
		perMicro = n / (float64(best) / 1e3)
	})
	return int(perMicro * float64(d) / 1e3)
}

var (
	calibrate sync.Once
	perMicro  float64
)

// tally counts outcomes over all runs of a workload.
type tally struct{ done, refused, cancelled, failed atomic.Int64 }

func (t *tally) count(err error) {
	switch {
	case err == nil:
		t.done.Add(1)
	case errors.Is(err, ioerr.ErrQueueFull), errors.Is(err, ioerr.ErrOverloaded), errors.Is(err, ioerr.ErrShutdown):
		t.refused.Add(1)
	case errors.Is(err, context.Canceled):
		t.cancelled.Add(1)
	default:
		t.failed.Add(1)
	}
}

func (t *tally) report(b *testing.B) {
	b.ReportMetric(float64(t.done.Load())/float64(b.N), "done")
	if n := t.refused.Load(); n > 0 {
		b.ReportMetric(float64(n)/float64(b.N), "refused")
	}
	if n := t.cancelled.Load(); n > 0 {
		b.ReportMetric(float64(n)/float64(b.N), "cancelled")
	}
	if n := t.failed.Load(); n > 0 {
		b.Errorf("%d calls failed", n)
	}
}

// efficiency reports the floor of n calls of d on so many workers.
func efficiency(b *testing.B, n int, d time.Duration, workers int) {
	floor := time.Duration(n) * d / time.Duration(min(workers, runtime.GOMAXPROCS(0)))
	b.ReportMetric(float64(floor)/1e3, "floor-us")
	b.ReportMetric(float64(floor)/(float64(b.Elapsed())/float64(b.N)), "efficiency")
}

// latency is a histogram of the times of calls: 8 steps for each power of two.
type latency struct{ counts [64 * 8]atomic.Int64 }

// start is when a call begins, and stop counts it: two functions, so that the call is no
// deeper in the stack for being timed. A nil latency does nothing.
func (l *latency) start() (began time.Time) {
	if l != nil {
		began = time.Now()
	}
	return began
}

func (l *latency) stop(began time.Time) {
	if l == nil {
		return
	}
	ns := uint64(max(time.Since(began), 8))
	exp := bits.Len64(ns) - 1
	l.counts[exp*8+int(ns>>(exp-3)&7)].Add(1)
}

// report reports percentiles, each by the lower end of its step.
func (l *latency) report(b *testing.B) {
	var total int64
	for i := range l.counts {
		total += l.counts[i].Load()
	}
	for _, p := range []int64{50, 95, 99} {
		var seen int64
		for i := range l.counts {
			if seen += l.counts[i].Load(); seen*100 >= total*p {
				ns := uint64(8+i%8) << (i / 8) >> 3
				b.ReportMetric(float64(ns)/1e3, fmt.Sprintf("p%d-us", p))
				break
			}
		}
	}
}
