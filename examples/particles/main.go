// Command particles moves many particles step by step, in chunks that are calls of a group,
// on lanes of several sizes, and tells how long that takes.
//
//	particles [-n 1000000] [-steps 10] [-chunk 65536] [-workers 1,2,4]
//		[-lane threads|sharded|inline|pinned|abandoning] [-rounds 5]
//
// No step begins before the last has ended everywhere. What comes out is the same to the
// last bit, however many workers there are and however large the chunks: the command fails
// if it is not.
//
// A step reads and writes every particle and computes little between the two, so that the
// memory may be the limit, which no number of workers raises. To show whether it is, each
// round also copies as many particles as often, by the same calls on the same lane: a step
// moves as many bytes as such a copy does. Where the two take about as long, memory is the
// limit. On inline, which has no bound, the group is the bound.
package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/iolane/iolane/examples/internal/command"
	"github.com/iolane/iolane/examples/internal/lanes"
)

func main() { command.Main("particles", run) }

// options is the command line.
type options struct {
	n       int
	steps   int
	chunk   int
	workers []int
	lane    string
	rounds  int
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
	return o.print(out, results)
}

func parse(out io.Writer, args []string) (*options, error) {
	o := new(options)
	flags := flag.NewFlagSet("particles", flag.ContinueOnError)
	flags.IntVar(&o.n, "n", 1_000_000, "how many particles")
	flags.IntVar(&o.steps, "steps", 10, "how many steps")
	flags.IntVar(&o.chunk, "chunk", 65_536, "how many particles a call moves")
	workers := flags.String("workers", "1,2,4", "how many calls at a time: a row for each `number`")
	flags.StringVar(&o.lane, "lane", "threads", "the `lane`: threads, sharded, inline, pinned or abandoning")
	flags.IntVar(&o.rounds, "rounds", 5, "how many times each row is measured")
	if err := command.Parse(flags, out, args); err != nil {
		return nil, err
	}
	var err error
	o.workers, err = lanes.Numbers("-workers", *workers)
	return o, errors.Join(err,
		command.AtLeast("-n", o.n, 1),
		command.AtLeast("-steps", o.steps, 1),
		command.AtLeast("-chunk", o.chunk, 1),
		command.AtLeast("-rounds", o.rounds, 1),
		command.OneOf("-lane", o.lane, []string{"threads", "sharded", "inline", "pinned", "abandoning"}))
}
