// Command particles moves a million particles by ten steps: work of the processor's on a lane, cut
// into chunks that are calls, with a barrier after each step.
//
//	particles [-n 1000000] [-steps 10] [-workers 1,2,4] [-chunk 16384] [-lane threads]
//
// A lane is made for calls that block; this shows what it costs where calls compute. Each step reads
// and writes all particles, so memory sets a bound that more workers do not move: what a bare
// copy of the same memory reaches is printed beside it. Whatever the lane, the workers and the
// chunks, the result is the same to the last bit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/iolane/iolane/examples/internal/lanes"
	"github.com/iolane/iolane/pool"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "particles:", err)
		os.Exit(1)
	}
}

type options struct {
	n, steps, chunk int
	workers         []int
	lane            string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("particles", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 1_000_000, "how many particles")
	flags.IntVar(&o.steps, "steps", 10, "how many steps")
	flags.IntVar(&o.chunk, "chunk", 16_384, "how many particles a call moves")
	workers := flags.String("workers", "1,2,4", "how many calls at a time, a list")
	flags.StringVar(&o.lane, "lane", "threads", "what they run on: threads, sharded, inline, abandoning, pinned or ring")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for _, f := range []struct {
		name string
		v    int
	}{{"n", o.n}, {"steps", o.steps}, {"chunk", o.chunk}} {
		if f.v < 1 {
			return o, fmt.Errorf("-%s %d: must be at least 1", f.name, f.v)
		}
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
	w := newWorld(o.n)
	copied, err := w.copied(o.steps)
	if err != nil {
		return err
	}
	line := func(name string, took, plain time.Duration) error {
		_, err := fmt.Fprintf(out, "%-20s %8.2f ms a step  %5.2f of a plain loop  %6.2f GB/s  sum %016x\n", name,
			float64(took)/float64(o.steps)/float64(time.Millisecond), float64(plain)/float64(took), w.moved(o.steps)/took.Seconds()/1e9, w.sum())
		return err
	}
	if _, err := fmt.Fprintf(out, "%d particles, %d steps, calls of %d; a bare copy of them: %.2f GB/s\n",
		o.n, o.steps, o.chunk, w.moved(o.steps)/copied.Seconds()/1e9); err != nil {
		return err
	}
	w.reset()
	began := time.Now()
	for range o.steps {
		w.step(0, o.n)
	}
	plain := time.Since(began)
	if err := line("plain loop", plain, plain); err != nil {
		return err
	}
	for _, workers := range o.workers {
		w.reset()
		took, err := onLane(ctx, o, workers, w)
		if err != nil {
			return err
		}
		if err := line(fmt.Sprintf("%s, %d at a time", o.lane, workers), took, plain); err != nil {
			return err
		}
	}
	return nil
}

// onLane makes all steps, and tells how long they took.
func onLane(ctx context.Context, o options, workers int, w *world) (took time.Duration, err error) {
	l, err := lanes.New(o.lane, workers)
	if err != nil {
		return 0, err
	}
	p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		return 0, errors.Join(err, l.Shutdown(ctx))
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	g, err := p.Group(pool.GroupConfig{Limit: workers})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for range o.steps {
		for from := 0; from < o.n; from += o.chunk {
			if err := g.Go(ctx, func(context.Context) error {
				w.step(from, min(from+o.chunk, o.n))
				return nil
			}); err != nil {
				return 0, errors.Join(err, g.Wait(ctx))
			}
		}
		if err := g.Wait(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
