// Command requests makes many calls that each block for a while, as requests do to a server
// that takes its time, and tells how long they take together: one after another, on lanes of
// several sizes, and as timers.
//
//	requests [-n 100] [-each 5ms] [-workers 1,10,100]
//		[-lane threads|sharded|abandoning|pinned|ring|timers|inline]
//		[-rounds 5] [-procs 0] [-check]
//
// On lanes of threads each call is a system call that sleeps, which holds a thread (elsewhere
// than on Linux it merely sleeps); inline has no bound, so that there the group is the bound.
// On a ring each is an operation of the kernel's. A timer is a call of a group that waits for
// its time outside of the lane, without a goroutine. With -lane timers there is no row on a
// lane.
//
// What is ideal is -each times the number of turns that so many workers need; the ratio is to
// that. Plain is the same without a library: goroutines, a channel as the bound, and for
// timers goroutines that sleep. Each figure is the median of the rounds, which take turns
// with those of plain; that of the first round, which makes the threads, is told apart. One
// round more, which is not measured, counts goroutines.
//
// A processor of the Go runtime is not free while a system call blocks, until the runtime's
// monitor takes it away, so that short calls need more of them than the machine has (package
// lane, "GOMAXPROCS"): where calls block threads there are as many as cores and workers
// together, for plain too, or -procs.
//
// With -check the command fails if a row takes more than 1.15 x what is ideal.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/iolane/iolane/examples/internal/command"
	"github.com/iolane/iolane/examples/internal/lanes"
	"github.com/iolane/iolane/ioerr"
)

func main() { command.Main("requests", run) }

// target is how many times the ideal a row may take.
const target = 1.15

// options is the command line.
type options struct {
	n       int
	each    time.Duration
	workers []int
	lane    string
	rounds  int
	procs   int
	check   bool
}

func run(ctx context.Context, out io.Writer, args []string) error {
	o, err := parse(out, args)
	if err != nil {
		return err
	}
	results, err := o.measure(ctx)
	if err != nil {
		return err
	}
	if err := o.print(out, results); err != nil || !o.check {
		return err
	}
	var missed []error
	for i := range results {
		missed = append(missed, results[i].missed())
	}
	return errors.Join(missed...)
}

func parse(out io.Writer, args []string) (*options, error) {
	o := new(options)
	flags := flag.NewFlagSet("requests", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 100, "how many calls")
	flags.DurationVar(&o.each, "each", 5*time.Millisecond, "how long each blocks")
	workers := flags.String("workers", "1,10,100", "how many at a time: a row for each `number`")
	flags.StringVar(&o.lane, "lane", "threads", "the `lane`: threads, sharded, abandoning, pinned, ring, timers or inline")
	flags.IntVar(&o.rounds, "rounds", 5, "how many times each row is measured")
	flags.IntVar(&o.procs, "procs", 0, "GOMAXPROCS; 0: as many as cores and workers together")
	flags.BoolVar(&o.check, "check", false, fmt.Sprintf("fail if a row takes more than %.2f x what is ideal", target))
	if err := command.Parse(flags, out, args); err != nil {
		return nil, err
	}
	if o.each <= 0 {
		return nil, &ioerr.ArgumentError{Name: "-each", Value: o.each, Reason: "must be positive"}
	}
	var err error
	o.workers, err = lanes.Numbers("-workers", *workers)
	return o, errors.Join(err,
		command.AtLeast("-n", o.n, 1),
		command.AtLeast("-rounds", o.rounds, 1),
		command.AtLeast("-procs", o.procs, 0),
		command.OneOf("-lane", o.lane, append(lanes.Names(), "timers")))
}

// missedError says by how much a row has missed the target.
type missedError struct {
	name  string
	ratio float64
}

// Error implements error.
func (e *missedError) Error() string {
	return fmt.Sprintf("%s: took %.2f x what is ideal, must be at most %.2f", e.name, e.ratio, target)
}
