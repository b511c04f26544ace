// Command lending compares package lend with puddle and database/sql: so many clients, so many
// resources, one borrowing after the other, in turns and in one process.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lending:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds         int
	time           time.Duration
	sizes, clients []int
	work           int
	patience       time.Duration
	check          bool
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("lending", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 5, "how often each is measured")
	f.DurationVar(&o.time, "time", 200*time.Millisecond, "how long each measurement takes")
	f.IntVar(&o.work, "work", 500, "steps of a loop with each resource")
	f.DurationVar(&o.patience, "patience", 0, "lend.Config.Patience; 0 for its default")
	f.BoolVar(&o.check, "check", false, "fail if a target is missed")
	sizes := f.String("sizes", "8,64,512", "how many resources there are")
	clients := f.String("clients", "1,8,64,512,1024,8192", "how many clients there are")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.sizes, err = numbers("sizes", *sizes); err != nil {
		return o, err
	}
	if o.clients, err = numbers("clients", *clients); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.work < 0 || o.time <= 0 {
		return o, errors.New("-rounds and -time must be positive, -work not negative")
	}
	return o, nil
}

// numbers are those of a list.
func numbers(name, list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-%s: %q is no number of at least 1", name, text)
		}
		all = append(all, n)
	}
	return all, nil
}

func run(args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	all := makers(o.patience)
	head := []string{"clients"}
	for i, m := range all {
		head = append(head, m.name, "p99")
		if i > 0 {
			head = append(head, "rate", "p99")
		}
	}
	rows := [][]string{head}
	missed := 0
	for _, s := range scenes(o) {
		results, err := inTurns(all, s, o)
		if err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
		row, misses := compare(s, results)
		rows, missed = append(rows, row), missed+misses
	}
	if err := printTable(out, o, rows); err != nil {
		return err
	}
	if o.check && missed > 0 {
		return fmt.Errorf("%d targets are missed", missed)
	}
	return nil
}

// compare is a line of the table, and how many targets are missed in it.
func compare(s scene, results []result) (row []string, missed int) {
	row = []string{s.String()}
	for i, r := range results {
		row = append(row, fmt.Sprintf("%.0f", r.rate/1e3), r.p99.Round(100*time.Nanosecond).String())
		if i == 0 {
			continue
		}
		rate, p99 := results[0].rate/r.rate, float64(r.p99)/float64(results[0].p99)
		row = append(row, target(rate, wanted(s)), target(p99, 1))
		if rate < wanted(s) {
			missed++
		}
		if p99 < 1 {
			missed++
		}
	}
	return row, missed
}

func printTable(out io.Writer, o options, rows [][]string) error {
	if _, err := fmt.Fprintf(out, "%d processors, %d rounds of %v; thousands a second, p99 of the wait; ratios: how much better iolane is\n",
		runtime.GOMAXPROCS(0), o.rounds, o.time); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		if _, err := fmt.Fprintln(table, strings.Join(row, "\t")+"\t"); err != nil {
			return err
		}
	}
	return table.Flush()
}

// wanted is how much faster than others we want to be.
func wanted(s scene) float64 {
	if s.contended() {
		return 1.5
	}
	return 1
}

// target is a ratio, with a mark if it is too small.
func target(ratio, least float64) string {
	if ratio < least {
		return fmt.Sprintf("%.2f!", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

func scenes(o options) (all []scene) {
	for _, size := range o.sizes {
		for _, clients := range o.clients {
			for _, cancellable := range []bool{false, true} {
				all = append(all, scene{size, clients, cancellable, o.work})
			}
		}
	}
	return all
}

// inTurns measures each in each round, and begins with another one each time.
func inTurns(all []maker, s scene, o options) ([]result, error) {
	rounds := make([][]result, len(all))
	for round := range o.rounds {
		for i := range all {
			i = (i + round) % len(all)
			r, err := measure(all[i], s, o.time)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].name, err)
			}
			rounds[i] = append(rounds[i], r)
		}
	}
	results := make([]result, len(all))
	for i := range all {
		results[i] = median(rounds[i])
	}
	return results, nil
}
