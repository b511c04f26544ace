// Package result keeps what was measured: the file, its medians and paired ratios,
// and what is made of them (a table, a drawing, a verdict on the targets).
package result

import "slices"

// A Sample is one measurement of one peer at one shape, made by a process of its
// own. Times are in nanoseconds.
type Sample struct {
	Shape string `json:"shape"`
	Peer  string `json:"peer"`
	Round int    `json:"round"` // samples of one round belong together

	Calls   int     `json:"calls"`             // calls that the time is the mean of
	Refused int     `json:"refused,omitempty"` // of these, those that the peer refused
	Time    float64 `json:"time"`              // for each call: all that passed, by the number of calls
	P50     float64 `json:"p50"`               // how long a single call took its caller
	P95     float64 `json:"p95"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`

	Allocs     float64 `json:"allocs"`     // for each call
	Bytes      float64 `json:"bytes"`      // for each call
	CPU        float64 `json:"cpu"`        // for each call, user and system
	Goroutines float64 `json:"goroutines"` // started for each call
	Threads    int     `json:"threads"`    // of the process, at most
}

// SetLatencies fills in the percentiles. It sorts what it gets.
func (s *Sample) SetLatencies(ns []int64) {
	if len(ns) == 0 {
		return
	}
	slices.Sort(ns)
	at := func(q float64) float64 { return float64(ns[min(int(q*float64(len(ns))), len(ns)-1)]) }
	s.P50, s.P95, s.P99, s.Max = at(0.50), at(0.95), at(0.99), at(1)
}

// A Metric is one number of a Sample.
type Metric string

// The metrics.
const (
	Time       Metric = "time"
	P50        Metric = "p50"
	P95        Metric = "p95"
	P99        Metric = "p99"
	Max        Metric = "max"
	Allocs     Metric = "allocs"
	Bytes      Metric = "bytes"
	CPU        Metric = "cpu"
	Goroutines Metric = "goroutines"
	Threads    Metric = "threads"
)

// Of returns the metric of a sample.
func (m Metric) Of(s Sample) float64 {
	switch m {
	case Time:
		return s.Time
	case P50:
		return s.P50
	case P95:
		return s.P95
	case P99:
		return s.P99
	case Max:
		return s.Max
	case Allocs:
		return s.Allocs
	case Bytes:
		return s.Bytes
	case CPU:
		return s.CPU
	case Goroutines:
		return s.Goroutines
	case Threads:
		return float64(s.Threads)
	}
	panic("result: no such metric: " + string(m))
}
