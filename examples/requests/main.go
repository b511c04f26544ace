// Command requests makes many blocking calls, each of which takes some milliseconds: one after
// another, on lanes of several sizes, and as timers; and tells how long that takes beside what it
// has to.
//
//	requests [-n 100] [-each 5ms] [-workers 1,10,100] [-lane threads] [-rounds 3] [-check]
//
// The calls block a thread each, as a slow device does; as timers they wait outside of the lane,
// without a goroutine. The text is the same on each lane.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/iolane/iolane/examples/internal/block"
	"github.com/iolane/iolane/examples/internal/cost"
	"github.com/iolane/iolane/examples/internal/lanes"
	"github.com/iolane/iolane/pool"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(1)
	}
}

// most is how much longer than it has to a program may take, with -check.
const most = 1.15

type options struct {
	n       int
	each    time.Duration
	workers []int
	lane    string
	rounds  int
	check   bool
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("requests", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 100, "how many calls")
	flags.DurationVar(&o.each, "each", 5*time.Millisecond, "how long each takes")
	workers := flags.String("workers", "1,10,100", "how many calls at a time, a list")
	flags.StringVar(&o.lane, "lane", "threads", "what they run on: threads, sharded, inline, abandoning, pinned or ring")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each way is tried; the median is told. The first time threads are made")
	flags.BoolVar(&o.check, "check", false, "fail if any takes more than 1.15 of what it has to")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.n < 1:
		return o, fmt.Errorf("-n %d: must be at least 1", o.n)
	case o.rounds < 1:
		return o, fmt.Errorf("-rounds %d: must be at least 1", o.rounds)
	case o.each <= 0:
		return o, fmt.Errorf("-each %v: must be positive", o.each)
	}
	if err := lanes.Known(o.lane); err != nil {
		return o, err
	}
	o.workers, err = lanes.Numbers("workers", *workers)
	return o, err
}

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	var slow []error
	measure := func(name string, atATime int, work func() error) error {
		before := cost.Now()
		all := make([]time.Duration, o.rounds)
		for i := range all {
			began := time.Now()
			if err := work(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all[i] = time.Since(began)
		}
		slices.Sort(all)
		took := all[len(all)/2]
		ideal := time.Duration((o.n+atATime-1)/atATime) * o.each
		ratio := float64(took) / float64(ideal)
		if ratio > most {
			slow = append(slow, fmt.Errorf("%s: %.2f of what it has to take", name, ratio))
		}
		_, err := fmt.Fprintf(out, "%-22s %8.1f ms  ideal %7.1f ms  ratio %.2f  %6.1f ms of processor time  %4d threads so far\n",
			name, ms(took), ms(ideal), ratio, ms(cost.Now().Processor-before.Processor)/float64(o.rounds), pprof.Lookup("threadcreate").Count())
		return err
	}
	err = measure("one after another", 1, func() error {
		for range o.n {
			if err := block.For(o.each); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, workers := range o.workers {
		atATime := workers
		if o.lane == "inline" { // which has no bound
			atATime = o.n
		}
		err := measure(fmt.Sprintf("%s, %d at a time", o.lane, workers), atATime, func() error {
			return together(ctx, o, workers, func(g *pool.Group) error {
				return g.Go(ctx, func(context.Context) error { return block.For(o.each) })
			})
		})
		if err != nil {
			return err
		}
	}
	err = measure("timers", o.n, func() error {
		return together(ctx, o, 1, func(g *pool.Group) error {
			return g.After(ctx, o.each, func(context.Context) error { return nil })
		})
	})
	if err == nil && o.check {
		err = errors.Join(slow...)
	}
	return err
}

// together has all calls made by a group, each begun by start.
func together(ctx context.Context, o options, workers int, start func(*pool.Group) error) (err error) {
	l, err := lanes.New(o.lane, workers)
	if err != nil {
		return err
	}
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		return errors.Join(err, l.Shutdown(ctx))
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	g, err := p.Group(pool.GroupConfig{})
	if err != nil {
		return err
	}
	for range o.n {
		if err := start(g); err != nil {
			return errors.Join(err, g.Wait(ctx))
		}
	}
	return g.Wait(ctx)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
