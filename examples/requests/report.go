package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iolane/iolane/examples/internal/command"
)

func (o *options) print(out io.Writer, results []result) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d calls of %v; medians of %d rounds\n", o.n, o.each, o.rounds)
	fmt.Fprintln(&text, "ms:\tideal\twall\tratio\tplain\tfirst\tprocessor\tat a time\tgoroutines\tthreads\t")
	for _, r := range results {
		fmt.Fprintf(&text, "%s\t%.2f\t%.2f\t%.2f\t%s\t%.2f\t%.2f\t%d\t%d\t%d\t\n",
			r.name, ms(r.ideal), ms(r.wall), r.ratio(), plain(&r), ms(r.first), ms(r.processor), r.atATime, r.goroutines, r.threads)
	}
	return command.Table(out, text.String())
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

func plain(r *result) string {
	if r.plain == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ms(r.plain))
}
