// Command sleepers starts many tasks that sleep, waits for all of them, and tells what that
// has cost.
//
//	sleepers [-n 10000] [-for 10s] [-lane timers|ring|threads]
//
// With timers each is a call that waits for its time outside of the lane: no goroutine and
// no slot. With ring each is an operation of the kernel's. With threads each blocks one, as
// a system call does that sleeps: the lane refuses to be made where that would be more
// threads than the process may have, at which the runtime would end it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/iolane/iolane/examples/internal/block"
	"github.com/iolane/iolane/examples/internal/command"
	"github.com/iolane/iolane/examples/internal/cost"
	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func main() { command.Main("sleepers", run) }

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("sleepers", flag.ContinueOnError)
	n := flags.Int("n", 10_000, "how many tasks")
	d := flags.Duration("for", 10*time.Second, "how long each sleeps")
	kind := flags.String("lane", "timers", "what they sleep on: timers, ring or threads")
	if err := command.Parse(flags, out, args); err != nil {
		return err
	}
	sleep := sleeps(*kind)
	switch {
	case sleep == nil:
		return &ioerr.ArgumentError{Name: "-lane", Value: *kind, Reason: "must be timers, ring or threads"}
	case *d < 0:
		return &ioerr.ArgumentError{Name: "-for", Value: *d, Reason: "must not be negative"}
	}
	if err := command.AtLeast("-n", *n, 1); err != nil {
		return err
	}
	began, before := time.Now(), cost.Now()
	if err := sleep(ctx, *n, *d); err != nil {
		return err
	}
	took, after := time.Since(began), cost.Now()
	_, err := fmt.Fprintf(out, "%d tasks of %v in %.3f s, %.3f s of processor time, %.1f MB\n",
		*n, *d, took.Seconds(), (after.Processor - before.Processor).Seconds(), float64(after.Memory)/1e6)
	return err
}

// sleeps has n tasks sleep on a kind of lane; nil: there is no such.
func sleeps(kind string) func(ctx context.Context, n int, d time.Duration) error {
	switch kind {
	case "timers":
		return onTimers
	case "threads":
		return onThreads
	case "ring":
		return onRing
	}
	return nil
}

func onTimers(ctx context.Context, n int, d time.Duration) error {
	return together(ctx, lane.Config{}, n, func(g *pool.Group) error {
		return g.After(ctx, d, func(context.Context) error { return nil })
	})
}

func onThreads(ctx context.Context, n int, d time.Duration) error {
	if !block.Holds {
		return errors.New("-lane threads is for Linux")
	}
	return together(ctx, lane.Config{Workers: n}, n, func(g *pool.Group) error {
		return g.Go(ctx, func(context.Context) error { return block.For(d) })
	})
}

func onRing(ctx context.Context, n int, d time.Duration) (err error) {
	l, err := lane.NewRing(lane.RingConfig{Config: lane.Config{Workers: min(n, 65_000)}})
	if err != nil {
		return err
	}
	files, err := file.NewPool(file.Config{Lane: l, OwnsLane: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	ops := make([]file.Op, n)
	for i := range ops {
		ops[i] = file.Sleep(d)
	}
	return files.DoAll(ctx, ops)
}

// together makes n members of a group, each as start does, and waits for them.
func together(ctx context.Context, c lane.Config, n int, start func(*pool.Group) error) (err error) {
	p, err := pool.New(pool.Config[struct{}]{Threads: c})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	g, err := p.Group(pool.GroupConfig{})
	if err != nil {
		return err
	}
	for range n {
		if err := start(g); err != nil {
			return errors.Join(err, g.Wait(ctx))
		}
	}
	return g.Wait(ctx)
}
