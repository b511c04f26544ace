package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/iolane/iolane/examples/internal/block"
	"github.com/iolane/iolane/examples/internal/lanes"
	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// row is one way to make the calls.
type row struct {
	name       string
	workers    int                         // at a time
	procs      int                         // GOMAXPROCS of a round; 0: as it is
	start      func(*row) error            // makes the lane; nil: there is none
	round      func(context.Context) error // makes all calls, and waits for them
	plain      func() error                // does the same without a library; nil: the round does
	plainProcs int
	running    func() int // asks the lane, where calls cannot be counted by themselves
	end        func() error
	meter      meter
}

func (o *options) rows() (rows []*row) {
	sequence := &row{name: "one after another", workers: 1}
	sequence.round = func(ctx context.Context) error { return o.inTurn(ctx, &sequence.meter) }
	rows = append(rows, sequence)
	if o.lane != "timers" {
		for _, workers := range o.workers {
			rows = append(rows, o.sized(workers))
		}
	}
	timers := &row{name: "timers", workers: o.n, start: o.timers}
	timers.plain = func() error { return o.goroutines(o.n, sleep) }
	return append(rows, timers)
}

// sized is a row on a lane of so many workers.
func (o *options) sized(workers int) *row {
	r := &row{name: fmt.Sprintf("%s, %d", o.lane, workers), workers: workers, start: o.lanes}
	r.procs = cmp.Or(o.procs, runtime.NumCPU()+workers)
	r.plain, r.plainProcs = func() error { return o.goroutines(workers, block.For) }, r.procs
	if o.lane == "ring" { // which blocks no threads
		r.start, r.procs = o.ring, o.procs
	}
	return r
}

// ideal is how long the calls take if nothing but they takes time.
func (o *options) ideal(r *row) time.Duration {
	turns := (o.n + r.workers - 1) / r.workers
	return time.Duration(turns) * o.each
}

// inTurn makes the calls without any pool.
func (o *options) inTurn(ctx context.Context, m *meter) error {
	for range o.n {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := m.call(func() error { return block.For(o.each) }); err != nil {
			return err
		}
	}
	return nil
}

// goroutines makes each call on a goroutine, a channel as the bound.
func (o *options) goroutines(workers int, wait func(time.Duration) error) error {
	slots := make(chan struct{}, workers)
	failed := make(chan error, o.n)
	for range o.n {
		slots <- struct{}{}
		go func() {
			err := wait(o.each)
			<-slots
			failed <- err
		}()
	}
	errs := make([]error, o.n)
	for i := range errs {
		errs[i] = <-failed
	}
	return errors.Join(errs...)
}

func sleep(d time.Duration) error {
	time.Sleep(d)
	return nil
}

// lanes makes the calls on a lane whose calls block threads.
func (o *options) lanes(r *row) error {
	l, err := lanes.New(o.lane, lane.Config{Workers: r.workers, Queue: o.n})
	if err != nil {
		return err
	}
	call := func(context.Context) error {
		return r.meter.call(func() error { return block.For(o.each) })
	}
	return r.group(l, func(ctx context.Context, g *pool.Group) error {
		return o.times(func() error { return g.Go(ctx, call) })
	})
}

// timers has the calls wait for their time. What runs on the lane then is nothing.
func (o *options) timers(r *row) error {
	l, err := lanes.New("threads", lane.Config{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return err
	}
	return r.group(l, func(ctx context.Context, g *pool.Group) error {
		return o.times(func() error {
			return g.After(ctx, o.each, func(context.Context) error {
				return r.meter.call(func() error { return nil })
			})
		})
	})
}

// ring has the kernel do the waiting, in operations.
func (o *options) ring(r *row) error {
	l, err := lanes.New("ring", lane.Config{Workers: r.workers})
	if err != nil {
		return err
	}
	files, err := file.NewPool(file.Config{Lane: l, OwnsLane: true})
	if err != nil {
		return errors.Join(err, l.Shutdown(context.Background()))
	}
	r.end, r.running = files.Close, func() int { return l.Stats().Running }
	r.round = func(ctx context.Context) error {
		ops := make([]file.Op, o.n)
		for i := range ops {
			ops[i] = file.Sleep(o.each)
		}
		err := files.DoAll(ctx, ops)
		for i := range ops {
			if ops[i].Err == nil {
				r.meter.calls.Add(1)
			}
		}
		return err
	}
	return nil
}

// times does something once for each call.
func (o *options) times(start func() error) error {
	for range o.n {
		if err := start(); err != nil {
			return err
		}
	}
	return nil
}

// group makes the round of a row one of a group on a lane, which becomes the row's.
func (r *row) group(l lane.Lane, fill func(context.Context, *pool.Group) error) error {
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		return errors.Join(err, l.Shutdown(context.Background()))
	}
	g, err := p.Group(pool.GroupConfig{Limit: r.workers})
	if err != nil {
		return errors.Join(err, p.Close())
	}
	r.end = p.Close
	r.round = func(ctx context.Context) error { return errors.Join(fill(ctx, g), g.Wait(ctx)) }
	return nil
}
