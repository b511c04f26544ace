package result

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A Verdict says what became of a target.
type Verdict string

// The verdicts.
const (
	Pass   Verdict = "pass"
	Miss   Verdict = "MISS"
	Absent Verdict = "absent" // something that it needs was not measured
	Waits  Verdict = "waits"  // see Target.Waits
)

// An Outcome is a target that was looked at.
type Outcome struct {
	Target
	Verdict Verdict
	Got     Spread // the ratio, or the metric itself
	Against string // what it was set against, by name
}

// speck is what still counts as no allocation and no goroutine for each call: the
// runtime makes a few of its own in the course of a million.
const speck = 0.01

// Judge looks at a target.
func (f *File) Judge(t Target) Outcome {
	o := Outcome{Target: t, Verdict: Absent}
	other := Point{t.Shape, t.Than.Peer}
	if t.Than.Shape != "" {
		other.Shape = t.Than.Shape
	}
	o.Against = other.Peer
	if t.Than.Best != "" {
		name, of := f.Best(other.Shape, t.Than.Best)
		other.Peer = name
		o.Against = fmt.Sprintf("best %s (%s, of %d)", t.Than.Best, name, of)
	}
	if t.Than.Shape != "" {
		o.Against += " at " + other.Shape
	}
	ours := Point{t.Shape, t.Peer}
	var ok bool
	limit := t.Max
	if t.Than == (Than{}) {
		o.Got, ok = f.Spread(ours, t.Metric)
		if t.Metric == Allocs || t.Metric == Goroutines {
			limit += speck
		}
	} else {
		o.Got, ok = f.Ratio(ours, other, t.Metric)
	}
	switch {
	case ok && o.Got.Median <= limit:
		o.Verdict = Pass
	case ok:
		o.Verdict = Miss
	case t.Waits != "":
		o.Verdict = Waits
	}
	return o
}

// Check writes what became of each target, and returns whether all were met that
// can be. One that was not measured is not met.
func (f *File) Check(w io.Writer, all []Target) (ok bool, err error) {
	ok = true
	tally := make(map[Verdict]int)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range all {
		o := f.Judge(t)
		tally[o.Verdict]++
		if o.Verdict == Miss || o.Verdict == Absent {
			ok = false
		}
		if _, err := fmt.Fprintln(table, o.line()); err != nil {
			return false, err
		}
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(w, "\ntargets: %d; pass %d, miss %d, not measured %d, waiting for what is to be measured %d\n",
		len(all), tally[Pass], tally[Miss], tally[Absent], tally[Waits])
	return ok, err
}

// line is one row, with tabs between its cells.
func (o Outcome) line() string {
	got := ""
	if o.Verdict == Pass || o.Verdict == Miss {
		got = fmt.Sprintf("%s (%s to %s)", o.number(o.Got.Median), o.number(o.Got.Low), o.number(o.Got.High))
	}
	want := "at most " + o.number(o.Max)
	if o.Against != "" {
		want += " x " + o.Against
	}
	note := o.Note
	if o.Verdict == Waits {
		note = o.Target.Waits
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s %s\t%s\t%s\t%s", o.Verdict, o.Row, o.Shape, o.Peer, o.Metric, got, want, note)
}

// number writes a ratio or the metric itself.
func (o Outcome) number(x float64) string {
	if o.Than != (Than{}) {
		if x < 0.1 {
			return fmt.Sprintf("%.4f", x)
		}
		return three(x)
	}
	switch o.Metric {
	case Allocs, Bytes, Goroutines, Threads:
		return count(x)
	case Time, P50, P95, P99, Max, CPU:
		return duration(x)
	}
	return three(x)
}
