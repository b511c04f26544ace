package result

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Verdict is what a target has come to.
type Verdict string

// The verdicts.
const (
	Aimed    Verdict = "met, and what is aimed at"
	Met      Verdict = "met"
	Missed   Verdict = "MISSED"
	Unproven Verdict = "not measured"
)

// Judge finds out what a target has come to, and by how much.
func (f *File) Judge(t Target) (Verdict, float64) {
	ours := f.Of(t.Case, t.Contender)
	got, atLeast := f.value(t, ours)
	reached := func(limit float64) bool {
		if atLeast {
			return got >= limit
		}
		return got <= limit
	}
	switch {
	case math.IsNaN(got) || len(ours) == 0:
		return Unproven, math.NaN()
	case reached(t.Aim):
		return Aimed, got
	case reached(t.Must):
		return Met, got
	}
	return Missed, got
}

// value of the metric: the median of the rounds, but the worst of them for memory and
// threads. NaN: not known.
func (f *File) value(t Target, ours []Sample) (got float64, atLeast bool) {
	known := func(x float64) float64 {
		if x == 0 {
			return math.NaN()
		}
		return x
	}
	switch t.Metric {
	case Ratio:
		return PairedRatio(ours, f.Of(t.Case, t.Than)), true
	case Rate:
		return medianOf(ours, rate), true
	case P99:
		return known(medianOf(ours, func(s *Sample) float64 { return s.P99.Seconds() })), false
	case Elapsed:
		return medianOf(ours, func(s *Sample) float64 { return s.Elapsed.Seconds() }), false
	case RSS:
		return known(highest(ours, func(s *Sample) float64 { return float64(s.RSS) })), false
	case Threads:
		return known(highest(ours, func(s *Sample) float64 { return float64(s.Threads) })) - float64(f.procs()), false
	}
	return math.NaN(), false
}

// procs is GOMAXPROCS of the last run.
func (f *File) procs() int {
	if len(f.Runs) == 0 {
		return 0
	}
	return f.Runs[len(f.Runs)-1].Machine.Procs
}

// Check prints what each target has come to.
func (f *File) Check(w io.Writer, targets []Target) error {
	rows := [][]string{{"target", "contender", "against", "must", "aim", "got", "verdict"}}
	count := make(map[Verdict]int)
	for _, t := range targets {
		v, got := f.Judge(t)
		count[v]++
		than := t.Than
		if than == "" {
			than = "-"
		}
		rows = append(rows, []string{
			t.Row, t.Contender, than, t.Metric.print(t.Must), t.Metric.print(t.Aim), t.Metric.print(got), string(v),
		})
	}
	var b strings.Builder
	write(&b, rows)
	fmt.Fprintf(&b, "%d targets: %d met, %d of them with what is aimed at; %d missed; %d not measured\n",
		len(targets), count[Met]+count[Aimed], count[Aimed], count[Missed], count[Unproven])
	_, err := io.WriteString(w, b.String())
	return err
}

// print writes a value with its unit.
func (m Metric) print(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	switch m {
	case Ratio:
		return fmt.Sprintf("%.2f", x)
	case Rate:
		return fmt.Sprintf("%.2f M/s", x/1e6)
	case P99:
		return fmt.Sprintf("%.2f ms", x*1e3)
	case Elapsed:
		return fmt.Sprintf("%.3f s", x)
	case RSS:
		return fmt.Sprintf("%.1f MB", x/1e6)
	case Threads:
		return fmt.Sprintf("procs%+.0f", x)
	}
	return fmt.Sprint(x)
}
