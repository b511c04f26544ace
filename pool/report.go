package pool

import (
	"context"
	"fmt"
	"strings"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// Report is what Shutdown has to tell when not everything went well. It is found
// in the error by errors.AsType[*pool.Report].
type Report struct {
	// Running are the calls that still run: those with a label, the oldest first,
	// and those that hold a handle. For a call without a label Age is zero.
	Running []Call
	// Unlabelled is how many more calls run or are queued, of which nothing is
	// known. On a shared lane calls of other pools are not among them.
	Unlabelled int
	// Undisposed are the resources that are not disposed of yet.
	Undisposed []handle.ID
	// Failed are Dispose hooks that failed, at most 64 of them. Those that were
	// given up on have the error ErrHookTimeout.
	Failed []*ioerr.HookError
	// FailedTotal is how many there were in all.
	FailedTotal uint64

	cause error
}

// Error gives the counts and names the first few of each kind.
func (r *Report) Error() string {
	var parts []string
	add := func(n int, what string, name func(i int) string) {
		if n == 0 {
			return
		}
		s := fmt.Sprintf("%d %s", n, what)
		for i := range min(n, 3) {
			s += []string{": ", ", "}[min(i, 1)] + name(i)
		}
		if n > 3 {
			s += ", …"
		}
		parts = append(parts, s)
	}
	add(len(r.Running), "running", func(i int) string { return r.Running[i].String() })
	add(r.Unlabelled, "running without a label", func(int) string { return "" })
	add(len(r.Undisposed), "not disposed of", func(i int) string { return r.Undisposed[i].String() })
	add(len(r.Failed), "failed", func(i int) string { return r.Failed[i].Error() })
	return strings.Join(parts, "; ")
}

// Unwrap returns the failures of hooks, and why Shutdown stopped waiting.
func (r *Report) Unwrap() []error {
	var errs []error
	if r.cause != nil {
		errs = append(errs, r.cause)
	}
	for _, e := range r.Failed {
		errs = append(errs, e)
	}
	return errs
}

// unfinished is the error of a Shutdown that stopped waiting.
func (p *Pool[R]) unfinished(ctx context.Context) error {
	p.cancel(ioerr.ErrShutdown) // give up: tell the calls that listen
	r := p.report()
	r.cause = context.Cause(ctx)
	return p.leftRunning(ctx, handle.ID{}, r)
}

// finished is the error of a Shutdown that saw the end.
func (p *Pool[R]) finished() error {
	p.cancel(ioerr.ErrShutdown) // frees what contexts of the past hold
	r := p.report()
	if r.FailedTotal == 0 {
		return nil
	}
	return &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.Done, Lane: p.lane.Name(), Err: r}
}

// report says what there is to tell now.
func (p *Pool[R]) report() *Report {
	r := &Report{Running: p.calls.list()}
	labelled := len(r.Running)
	held := make(map[handle.ID]bool)
	for _, c := range r.Running {
		held[c.Handle] = true
	}
	unseen := 0 // holders without a label, counted with their handle
	for _, e := range p.reg.Retiring() {
		r.Undisposed = append(r.Undisposed, e.ID)
		if !held[e.ID] && e.Held() {
			r.Running = append(r.Running, Call{Handle: e.ID})
			unseen++
		}
	}
	switch {
	case p.gate != nil:
		r.Unlabelled = p.gate.Stats().Running
		for _, c := range r.Running[:labelled] {
			if c.Handle.IsZero() {
				r.Unlabelled--
			}
		}
	default:
		s := p.lane.Stats()
		r.Unlabelled = s.Running + s.Queued - labelled - unseen
	}
	r.Unlabelled = max(r.Unlabelled, 0)
	p.bin.mu.Lock()
	defer p.bin.mu.Unlock()
	r.Failed = append(r.Failed, p.bin.errors...)
	r.FailedTotal = p.bin.failed
	return r
}

// String gives the label, the handle and the age, as far as known.
func (c Call) String() string {
	var parts []string
	if c.Label != "" {
		parts = append(parts, c.Label)
	}
	if !c.Handle.IsZero() {
		parts = append(parts, c.Handle.String())
	}
	if c.Age != 0 {
		parts = append(parts, c.Age.String())
	}
	return strings.Join(parts, " ")
}
