package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iolane/iolane/examples/internal/command"
)

func (o *options) print(out io.Writer, results []result) error {
	plain, one := results[0].moved, time.Duration(0)
	for _, r := range results {
		if r.workers == 1 {
			one = r.moved
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d particles of %d bytes, %d steps in chunks of %d; medians of %d rounds; in the end at %016x\n",
		o.n, size, o.steps, o.chunk, o.rounds, results[0].sum)
	fmt.Fprintln(&text, "\tms\tof plain\tof one worker\tGB/s\tcopy GB/s\tof copy\t")
	for _, r := range results {
		fmt.Fprintf(&text, "%s\t%.2f\t%s\t%s\t%.2f\t%.2f\t%s\t\n", r.name, r.moved.Seconds()*1e3, ratio(r.moved, plain),
			ratio(r.moved, one), o.speed(r.moved), o.speed(r.copied), ratio(r.moved, r.copied))
	}
	return command.Table(out, text.String())
}

// speed is how many GB are read and written in a second.
func (o *options) speed(took time.Duration) float64 {
	return 2 * float64(o.n) * float64(size) * float64(o.steps) / 1e9 / took.Seconds()
}

// ratio is how many times as long as another something takes. The other may be missing.
func ratio(took, other time.Duration) string {
	if other == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(took)/float64(other))
}
