package iolane_test

// End-to-end benchmarks: the workloads of a bounded executor, each with its
// baselines in the same driver. Names read workload/side.
//
// "floor" is the time that the work itself takes on the given number of workers
// (or processors, if those are fewer); "efficiency" is floor divided by what it
// took. "done" and "refused" are calls for each run of the workload: runs that
// refused are not to be compared with runs that did not. Two capacities: "matched"
// has room for every call, for comparison with sides without a bound; "bounded"
// has the lane's default bounds.

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// limits are what a workload asks of a side.
type limits struct {
	workers, queue, waiters int // queue and waiters 0: the lane's defaults
	failFast                bool
}

// matched has room for n calls at once.
func matched(workers, n int) limits { return limits{workers: workers, queue: n} }

// bounded has the default room.
func bounded(workers int) limits { return limits{workers: workers} }

// side is one way to run bounded calls.
type side struct {
	name  string
	ours  bool // has bounds, order, cancellation; the others only run calls
	start func(b *testing.B, l limits) executor
}

// executor runs calls.
type executor struct {
	call func(context.Context, func() error) error
	stop func()
}

var sides = []side{
	{"bare", false, func(*testing.B, limits) executor {
		return executor{func(_ context.Context, fn func() error) error { return fn() }, func() {}}
	}},
	{"goroutine", false, func(*testing.B, limits) executor {
		return executor{func(_ context.Context, fn func() error) error {
			c := make(chan error, 1)
			go func() { c <- fn() }()
			return <-c
		}, func() {}}
	}},
	{"semaphore", false, func(_ *testing.B, l limits) executor {
		sem := make(chan struct{}, l.workers)
		return executor{func(ctx context.Context, fn func() error) error {
			select {
			case sem <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { <-sem }()
			return fn()
		}, func() {}}
	}},
	{"threads", true, func(b *testing.B, l limits) executor {
		return pooled(b, must(lane.NewThreads(config(l))))
	}},
	{"threads-strict", true, func(b *testing.B, l limits) executor {
		c := config(l)
		c.Patience = lane.Strict
		return pooled(b, must(lane.NewThreads(c)))
	}},
	{"sharded", true, func(b *testing.B, l limits) executor {
		c := config(l)
		c.Workers = 1
		if l.queue > 0 {
			c.Queue = (l.queue + l.workers - 1) / l.workers
		}
		return pooled(b, must(lane.NewSharded(lane.ShardedConfig{Shards: l.workers, Config: c})))
	}},
	{"inline", true, func(b *testing.B, _ limits) executor {
		return pooled(b, lane.NewInline(""))
	}},
}

func config(l limits) lane.Config {
	c := lane.Config{Workers: l.workers, Queue: l.queue, Waiters: l.waiters}
	if l.failFast {
		c.Policy = lane.FailFast
	}
	return c
}

func pooled(b *testing.B, l lane.Lane) executor {
	b.Helper()
	p := must(pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true}))
	return executor{
		func(ctx context.Context, fn func() error) error {
			_, err := pool.Run(ctx, p, func(context.Context) (struct{}, error) { return struct{}{}, fn() })
			return err
		},
		func() {
			if err := p.Close(); err != nil {
				b.Error(err)
			}
		},
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// each runs a benchmark for every side that want accepts (nil: all).
func each(b *testing.B, l limits, want func(side) bool, run func(*testing.B, executor)) {
	for _, s := range sides {
		if want != nil && !want(s) {
			continue
		}
		b.Run(s.name, func(b *testing.B) {
			x := s.start(b, l)
			defer x.stop()
			b.ReportAllocs()
			run(b, x)
		})
	}
}

func ours(s side) bool    { return s.ours && s.name != "inline" }
func waiting(s side) bool { return s.ours && s.name != "inline" || s.name == "semaphore" }

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
type tally struct{ done, refused, failed atomic.Int64 }

func (t *tally) count(err error) {
	switch {
	case err == nil:
		t.done.Add(1)
	case errors.Is(err, ioerr.ErrQueueFull), errors.Is(err, ioerr.ErrOverloaded):
		t.refused.Add(1)
	default:
		t.failed.Add(1)
	}
}

func (t *tally) report(b *testing.B) {
	b.ReportMetric(float64(t.done.Load())/float64(b.N), "done")
	if n := t.refused.Load(); n > 0 {
		b.ReportMetric(float64(n)/float64(b.N), "refused")
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

// burst makes n concurrent calls of fn and waits for them.
func burst(n int, x executor, t *tally, fn func() error) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { t.count(x.call(context.Background(), fn)) })
	}
	wg.Wait()
}
