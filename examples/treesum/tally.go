package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/lane"
)

// tally counts what has been done. It may be read at any time.
type tally struct {
	files atomic.Int64 // files hashed
	bytes atomic.Int64 // in these
	read  atomic.Int64 // bytes read, also of files that are not finished
	start time.Time
}

func newTally() *tally { return &tally{start: time.Now()} }

func (t *tally) count(size int64) {
	t.files.Add(1)
	t.bytes.Add(size)
}

func (t *tally) String() string {
	return fmt.Sprintf("%d files, %d bytes", t.files.Load(), t.bytes.Load())
}

// print prints the statistics of the run.
func (t *tally) print(w io.Writer, s lane.Stats) {
	took := time.Since(t.start)
	rate := float64(t.bytes.Load()) / 1e6 / took.Seconds()
	_, _ = fmt.Fprintf(w, "treesum: %v in %v, %.0f MB/s\n", t, took.Round(time.Millisecond), rate)
	mean := time.Duration(0)
	if s.Waits > 0 {
		mean = s.WaitSum / time.Duration(s.Waits)
	}
	_, _ = fmt.Fprintf(w, "treesum: lane %s: %d calls, %d of them waited, %v on average and %v at most; %d refused, %d dropped\n",
		s.Name, s.Started, s.Waits, mean.Round(time.Microsecond), s.WaitMax.Round(time.Microsecond), s.Refused.Total(), s.Dropped)
}
