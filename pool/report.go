package pool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// Report is what Shutdown has to tell when not everything went well. It is found
// in the error by errors.AsType[*pool.Report].
type Report struct {
	// Running are the calls that still run: those with a label, the oldest first, the
	// hooks Check and Interrupt ("check", "interrupt"), and calls that hold a handle. For
	// a call without a label Age is zero.
	Running []Call
	// Others is how many more calls run or are queued, of which nothing is
	// known. On a shared lane calls of other pools are not among them.
	Others int
	// Undisposed are the resources that are not disposed of yet.
	Undisposed []handle.ID
	// Failed are hooks that failed, at most 64 of them. Those that were
	// given up on have the error ErrHookTimeout.
	Failed []*ioerr.HookError
	// FailedTotal is how many there were in all.
	FailedTotal uint64

	cause error
}

// Error gives the counts and names the first few of each kind.
func (r *Report) Error() string {
	var parts []string
	add := func(n uint64, what string, known int, name func(i int) string) {
		if n == 0 {
			return
		}
		s := fmt.Sprintf("%d %s", n, what)
		for i := range min(known, 3) {
			s += []string{": ", ", "}[min(i, 1)] + name(i)
		}
		if known > 3 {
			s += ", …"
		}
		parts = append(parts, s)
	}
	all := func(n int, what string, name func(i int) string) { add(uint64(n), what, n, name) }
	others := "running or queued"
	if len(r.Running) > 0 {
		others = "more " + others
	}
	all(len(r.Running), "running", func(i int) string { return r.Running[i].String() })
	add(uint64(r.Others), others, 0, nil)
	all(len(r.Undisposed), "not disposed of", func(i int) string { return r.Undisposed[i].String() })
	add(r.FailedTotal, "failed", len(r.Failed), func(i int) string { return r.Failed[i].Error() })
	switch {
	case parts != nil:
	case r.cause != nil:
		return r.cause.Error()
	default:
		return "nothing to report"
	}
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
func (p *Pool[R]) unfinished(ctx context.Context, why error) error {
	r := p.report() // of what was there until now
	r.cause = why
	p.giveUp.end() // tell the calls that listen
	if p.carrier != nil {
		p.carrier.GiveUp(p.owner, ioerr.ErrShutdown) // leave those that do not
	}
	return p.leftRunning(ctx, handle.ID{}, r)
}

// finished is the error of a Shutdown that saw the end.
func (p *Pool[R]) finished() error {
	p.giveUp.end() // frees what contexts of the past hold
	p.signal.Release()
	if p.bin.allWell() {
		return nil
	}
	return &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.Done, Lane: p.lane.Name(), Err: p.report()}
}

// report says what there is to tell now.
func (p *Pool[R]) report() *Report {
	r := &Report{Running: p.calls.list(false)}
	held := make(map[handle.ID]int) // by calls and hooks that are listed
	for _, c := range r.Running {
		held[c.Handle]++
	}
	slotless := 0 // of what is listed
	for _, h := range p.hooks.list() {
		if h.name == "dispose" {
			continue
		}
		if h.name == "check" || h.keeps { // else it is its call that holds the handle
			held[h.id]++
		}
		r.Running = append(r.Running, Call{Label: h.name, Handle: h.id, Age: time.Since(h.began)})
		if h.slotless {
			slotless++
		}
	}
	for _, e := range p.reg.Retiring() {
		r.Undisposed = append(r.Undisposed, e.ID)
		for range e.Holders() - held[e.ID] { // without a label, or still in the queue
			r.Running = append(r.Running, Call{Handle: e.ID})
		}
	}
	var inside int
	if p.gate != nil { // it counts the calls without a handle
		inside = p.gate.Stats().Running
	} else { // the lane counts them all, and the disposals
		s := p.lane.Stats()
		inside = s.Running + s.Queued
		for _, c := range s.Left {
			if !c.KeepsSlot {
				inside++
			}
		}
	}
	for _, c := range r.Running {
		if p.gate == nil || c.Handle.IsZero() {
			inside--
		}
	}
	if p.gate == nil {
		inside += slotless
	}
	inside += p.fibers.count()
	p.bin.mu.Lock()
	defer p.bin.mu.Unlock()
	if p.gate == nil {
		inside -= p.bin.workers
	}
	r.Others = max(inside, 0)
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
	switch {
	case c.Waits:
		parts = append(parts, "(waits)")
	case c.Left:
		parts = append(parts, "(left)")
	}
	return strings.Join(parts, " ")
}
