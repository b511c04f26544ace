package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/examples/internal/command"
	"github.com/iolane/iolane/examples/internal/cost"
)

// result is what a row has cost.
type result struct {
	name       string
	calls      int64 // in all rounds
	ideal      time.Duration
	first      time.Duration
	wall       time.Duration
	plain      time.Duration // without a library; 0: there is no such
	processor  time.Duration // of a round
	atATime    int64
	goroutines int64
	threads    uint64
}

func (r *result) ratio() float64 { return float64(r.wall) / float64(r.ideal) }

func (r *result) missed() error {
	if r.ratio() <= target {
		return nil
	}
	return &missedError{name: r.name, ratio: r.ratio()}
}

// measure makes the calls in each of the ways.
func (o *options) measure(ctx context.Context) (results []result, err error) {
	for _, r := range o.rows() {
		got, err := o.row(ctx, r)
		if err != nil {
			return nil, err
		}
		results = append(results, got)
	}
	return results, nil
}

func (o *options) row(ctx context.Context, r *row) (got result, err error) {
	if r.start != nil {
		if err := r.start(r); err != nil {
			return got, err
		}
		defer func() { err = errors.Join(err, r.end()) }()
	}
	others := int64(runtime.NumGoroutine())
	var times, plain []time.Duration
	for range o.rounds {
		before := cost.Now()
		took, err := timed(r.procs, func() error { return r.round(ctx) })
		if err != nil {
			return got, err
		}
		times = append(times, took)
		got.processor += (cost.Now().Processor - before.Processor) / time.Duration(o.rounds)
		if r.plain == nil {
			continue
		}
		if took, err = timed(r.plainProcs, r.plain); err != nil {
			return got, err
		}
		plain = append(plain, took)
	}
	got.calls = r.meter.calls.Load()
	if err := o.count(ctx, r); err != nil {
		return got, err
	}
	got.name, got.ideal, got.first, got.wall = r.name, o.ideal(r), times[0], command.Median(times)
	if r.plain != nil {
		got.plain = command.Median(plain)
	}
	got.atATime, got.threads = r.meter.most.Load(), threads()
	got.goroutines = max(0, r.meter.goroutines.Load()-others)
	return got, nil
}

// count makes a round more, which is looked at in its first turn. Those that are measured are
// not: a timer in between has the runtime begin its wait in the kernel anew, in whole
// milliseconds.
func (o *options) count(ctx context.Context, r *row) error {
	look := time.AfterFunc(o.each/2, func() { r.meter.look(r.running) })
	defer look.Stop()
	_, err := timed(r.procs, func() error { return r.round(ctx) })
	return err
}

// timed says how long something takes with so many processors of the runtime; 0: those that
// there are.
func timed(procs int, fn func() error) (time.Duration, error) {
	if procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	}
	began := time.Now()
	err := fn()
	return time.Since(began), err
}

// threads is how many threads the runtime has; it gives none back that a call has blocked.
func threads() uint64 {
	s := []metrics.Sample{{Name: "/sched/threads/total:threads"}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

// meter counts calls, how many ran at a time at most, and the goroutines that there were in
// the middle of the first turn.
type meter struct {
	calls, now, most, goroutines atomic.Int64
}

func (m *meter) call(fn func() error) error {
	raise(&m.most, m.now.Add(1))
	err := fn()
	m.now.Add(-1)
	if err == nil {
		m.calls.Add(1)
	}
	return err
}

// look counts goroutines, but for its own. Calls that did so would be late.
func (m *meter) look(running func() int) {
	raise(&m.goroutines, int64(runtime.NumGoroutine()-1))
	if running != nil {
		raise(&m.most, int64(running()))
	}
}

func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
	}
}
