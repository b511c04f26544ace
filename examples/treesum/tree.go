package main

import (
	"context"
	"errors"

	"github.com/iolane/iolane/ioerr"
)

// job is one run of the command: what its parts share.
type job struct {
	*hasher
	*report
	window int
}

// result is a file that was hashed or, with err, could not be.
type result struct {
	path string
	hashed
	err error
}

// sum prints the sums of all files below roots.
func (j *job) sum(ctx context.Context, roots []string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hash := func(f found) result {
		r := result{path: f.path, err: f.err}
		if r.err == nil {
			r.hashed, r.err = j.hash(ctx, r.path, openNoFollow)
		}
		return r
	}
	var line []byte
	for r := range inOrder(newWalker(j.files).walk(ctx, roots), j.window, hash, j.idle) {
		switch {
		case notStarted(r.err):
		case r.err != nil:
			j.complain(r.path, r.err)
		default:
			j.report.tally.count(r.size)
			line = appendEntry(line[:0], entry{r.path, r.sum})
			j.print(line)
		}
		if !j.writable() {
			cancel() // the rest is not wanted
			return
		}
	}
}

// notStarted reports whether a call did not run because the command is to end.
func notStarted(err error) bool {
	e, ok := errors.AsType[*ioerr.Error](err)
	return ok && e.Outcome == ioerr.Cancelled && e.Effect == ioerr.None
}
