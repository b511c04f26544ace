package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// report is what the user gets to see. It belongs to one goroutine.
type report struct {
	out    *bufio.Writer // the standard output
	err    io.Writer     // the standard error
	bar    *progress     // nil without one
	tally  *tally
	failed bool
	broken error // the standard output cannot be written
}

func newReport(stdout, stderr io.Writer, showProgress bool, t *tally) *report {
	r := &report{out: bufio.NewWriterSize(stdout, 32<<10), err: stderr, tally: t}
	if showProgress {
		r.bar = newProgress(stderr, t)
	}
	return r
}

// print prints a line to the standard output.
func (r *report) print(line []byte) {
	if len(line) > r.out.Available() {
		r.idle()
	}
	_, _ = r.out.Write(line) // bufio keeps the error for Flush
}

// idle puts out what has been printed: nothing more will come at once.
func (r *report) idle() {
	if r.broken != nil || r.out.Buffered() == 0 {
		return
	}
	r.bar.yield(func() { r.broken = r.out.Flush() })
}

// writable reports whether there is sense in going on.
func (r *report) writable() bool { return r.broken == nil }

// say prints a line to the standard error.
func (r *report) say(format string, args ...any) {
	r.idle()
	r.bar.yield(func() { _, _ = fmt.Fprintf(r.err, "treesum: "+format+"\n", args...) })
}

// fail is say for what makes the command fail.
func (r *report) fail(format string, args ...any) {
	r.failed = true
	r.say(format, args...)
}

// complain reports a file or directory that could not be read.
func (r *report) complain(path string, err error) {
	r.fail("%s: %s", quote(path), reason(err))
}

// reason is why a call failed, without the path and the operation.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// end says what is left to say and returns the exit status.
func (r *report) end(ctx context.Context) int {
	r.idle()
	r.bar.end()
	r.bar = nil
	switch {
	case nobodyReads(r.broken):
		return exitPipe
	case r.broken != nil:
		r.fail("%s: %s", "standard output", reason(r.broken))
	}
	if ctx.Err() != nil {
		r.say("interrupted: %s hashed", r.tally)
		return exitInterrupted
	}
	if r.failed {
		return exitFailed
	}
	return exitOK
}
