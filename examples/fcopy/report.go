package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/lane"
)

// report is what the user gets to see. It belongs to one goroutine, but for the bar.
type report struct {
	out     io.Writer // the standard error
	bar     *progress
	failed  bool
	differs bool

	verified  atomic.Int64 // bytes
	verifying time.Duration
}

func newReport(stderr io.Writer, showProgress bool) *report {
	r := &report{out: stderr}
	if showProgress {
		r.bar = newProgress(stderr)
	} else {
		r.bar = newProgress(nil)
	}
	return r
}

// say prints a line.
func (r *report) say(format string, args ...any) {
	r.bar.yield(func() { _, _ = fmt.Fprintf(r.out, "fcopy: "+format+"\n", args...) })
}

// note is say for what is worth knowing and no failure.
func (r *report) note(format string, args ...any) { r.say("note: "+format, args...) }

// fail reports what makes the command fail. That it was interrupted is for run to say,
// unless there is something left.
func (r *report) fail(err error) {
	r.failed = true
	if _, ok := errors.AsType[*differenceError](err); ok {
		r.differs = true
	}
	_, leftover := errors.AsType[*leftoverError](err)
	if leftover || mayBeInUse(err) || !errors.Is(err, context.Canceled) {
		r.say("%v", err)
	}
}

// stats prints what was done, and what the lane has counted of all that.
func (r *report) stats(s lane.Stats) {
	done := func(what string, n int64, took time.Duration) {
		r.say("%s %d bytes in %v, %s", what, n, took.Round(time.Millisecond), rate(n, took))
	}
	verified := r.verified.Load()
	done("copied", r.bar.done.Load()-verified, time.Since(r.bar.started)-r.verifying)
	if r.verifying > 0 {
		done("verified", verified, r.verifying)
	}
	r.say("lane %s: %d calls, %d waited in the queue, the longest %v; %d left running", s.Name, s.Completed, s.Waits, s.WaitMax, s.LeftTotal)
	if g := s.Ring; g.Rings > 0 {
		r.say("rings: %d in use; %d operations native, %d cached (%d missed), %d on threads (%d of them tried natively)",
			g.Rings, g.Served, g.Cached, g.Missed, g.Threads, g.Fallback)
		r.say("rings: %d system calls, %d kicks, %d bytes of buffers registered", g.Enters, g.Kicks, g.Registered)
	}
	if s.Ring.Reason != nil {
		r.say("%v", s.Ring.Reason)
	}
	if s.Threads.Alive > 0 {
		r.say("threads of the lane: %d", s.Threads.Alive)
	}
	r.say("threads of the process: %d", pprof.Lookup("threadcreate").Count())
}

// end takes down the bar.
func (r *report) end() { r.bar.end() }
