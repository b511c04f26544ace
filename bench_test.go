package iolane_test

// End-to-end benchmarks: the workloads of a bounded executor, each with its
// baselines in the same driver. Names read workload/side.
//
// "floor" is the time that the work itself takes on the given number of workers
// (or processors, if those are fewer); "efficiency" is floor divided by what it
// took. A side without a bound may use more processors than it has workers, and
// then does better than one. "done" and "refused" are calls for each run of the workload: runs that
// refused are not to be compared with runs that did not. Where single calls are
// timed, p50-us to p99-us are their times. The spread of whole runs is shown by
// -count 20 and benchstat. Two capacities: "matched"
// has room for every call, for comparison with sides without a bound; "bounded"
// has the lane's default bounds, which the shards of a Sharded lane divide.

import (
	"cmp"
	"context"
	"sync/atomic"
	"testing"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// limits are what a workload asks of a side.
type limits struct {
	workers, queue, waiters int // queue and waiters 0: the lane's defaults
	failFast                bool
}

// defaultQueue is the lanes' own; the default for waiters is four times the queue.
const defaultQueue = 256

// admitted is how many callers a lane with these limits lets in at once, running
// and waiting.
func (l limits) admitted() int {
	queue := max(cmp.Or(l.queue, defaultQueue), 0)
	if l.failFast {
		return l.workers + queue
	}
	return l.workers + queue + cmp.Or(l.waiters, 4*cmp.Or(queue, defaultQueue))
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
	{"permits", false, func(_ *testing.B, l limits) executor {
		// The semaphore behind a count of permits: it refuses whoever comes when as
		// many callers as a lane would admit are there.
		sem, most := make(chan struct{}, l.workers), int64(l.admitted())
		var present atomic.Int64
		return executor{func(ctx context.Context, fn func() error) error {
			defer present.Add(-1)
			if present.Add(1) > most {
				return ioerr.ErrQueueFull
			}
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
		share := func(n int) int { return (n + l.workers - 1) / l.workers }
		if l.queue >= 0 {
			c.Queue = share(cmp.Or(l.queue, defaultQueue))
			c.Waiters = share(cmp.Or(l.waiters, 4*cmp.Or(l.queue, defaultQueue)))
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

// queues accepts the sides where callers wait for a place, refuses those that turn
// callers away.
func queues(s side) bool  { return refuses(s) || s.name == "semaphore" }
func refuses(s side) bool { return s.ours && s.name != "inline" || s.name == "permits" }
