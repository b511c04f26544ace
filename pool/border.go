package pool

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
)

// This file is the border: the only place where the errors are built that leave
// a pool, all of them *ioerr.Error.

// refusals are built once, by the first call that is refused, so that refusing a call
// for want of room allocates nothing. What depends on the call (an ID that names nothing, the cause of a
// context) is told with it, at the price of an allocation.
type refusals struct {
	shutdown, inside                        ioerr.Error // by the pool
	laneShut                                ioerr.Error // by a lane that others have shut down
	queueFull, keyBusy, overloaded          ioerr.Error // by the lane
	reentry, late                           ioerr.Error
	busy, waitersFull, reentered, waitedOut ioerr.Error // by the handle
}

func (c *core) refusals() *refusals {
	r := c.ready.Load()
	if r == nil {
		c.ready.CompareAndSwap(nil, newRefusals(c.lane.Name()))
		r = c.ready.Load()
	}
	return r
}

func newRefusals(laneName string) *refusals {
	by := func(origin ioerr.Origin, outcome ioerr.Outcome, err error) ioerr.Error {
		return ioerr.Error{Outcome: outcome, Origin: origin, Effect: ioerr.None, Lane: laneName, Err: err}
	}
	return &refusals{
		shutdown:    by(ioerr.Executor, ioerr.ShutdownInProgress, ioerr.ErrShutdown),
		inside:      by(ioerr.Executor, ioerr.Failed, ioerr.ErrReentry),
		laneShut:    by(ioerr.Lane, ioerr.ShutdownInProgress, ioerr.ErrShutdown),
		queueFull:   by(ioerr.Lane, ioerr.Failed, ioerr.ErrQueueFull),
		keyBusy:     by(ioerr.Lane, ioerr.Failed, ioerr.ErrKeyBusy),
		overloaded:  by(ioerr.Lane, ioerr.Failed, ioerr.ErrOverloaded),
		reentry:     by(ioerr.Lane, ioerr.Failed, ioerr.ErrReentry),
		late:        by(ioerr.Lane, ioerr.TimedOut, ioerr.ErrAcceptTimeout),
		busy:        by(ioerr.Handle, ioerr.Failed, ioerr.ErrHandleBusy),
		waitersFull: by(ioerr.Handle, ioerr.Failed, ioerr.ErrWaitersFull),
		reentered:   by(ioerr.Handle, ioerr.Failed, ioerr.ErrReentry),
		waitedOut:   by(ioerr.Handle, ioerr.TimedOut, ioerr.ErrAcceptTimeout),
	}
}

// refuse is the error of a call that never ran. err is what the layer at origin
// said; ctx is the caller's, for the cause if that ended the call.
func (c *core) refuse(ctx context.Context, err error, origin ioerr.Origin, label string, id handle.ID) error {
	return c.count(c.refusal(ctx, err, origin, label, id))
}

func (c *core) refusal(ctx context.Context, err error, origin ioerr.Origin, label string, id handle.ID) *ioerr.Error {
	late := c.state.Load() != stateOpen // the shutdown began while the call waited
	if e := c.refusals().find(err, origin); e != nil {
		switch {
		case late && err == ioerr.ErrAcceptTimeout:
			return &c.refusals().shutdown
		case !late && err == ioerr.ErrShutdown && origin == ioerr.Lane:
			return &c.refusals().laneShut
		}
		return e
	}
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		ctx.Err() != nil && errors.Is(err, ctx.Err()) // of somebody's own making
	if late && ended {
		return &c.refusals().shutdown
	}
	e := &ioerr.Error{Outcome: ioerr.Failed, Origin: origin, Effect: ioerr.None, Label: label, Lane: c.lane.Name(), Err: err}
	if !id.IsZero() {
		e.Handle = id
	}
	switch {
	case ended:
		e.Outcome, e.Err = outcomeOf(ctx), cmp.Or(context.Cause(ctx), err)
	case errors.Is(err, ioerr.ErrShutdown):
		e.Outcome = ioerr.ShutdownInProgress
	case errors.Is(err, ioerr.ErrAcceptTimeout):
		e.Outcome = ioerr.TimedOut
	}
	return e
}

// find returns the ready-made refusal, or nil.
func (r *refusals) find(err error, origin ioerr.Origin) *ioerr.Error {
	if origin == ioerr.Handle {
		switch err {
		case ioerr.ErrHandleBusy:
			return &r.busy
		case ioerr.ErrWaitersFull:
			return &r.waitersFull
		case ioerr.ErrReentry:
			return &r.reentered
		case ioerr.ErrAcceptTimeout:
			return &r.waitedOut
		}
	} else {
		switch err {
		case ioerr.ErrQueueFull:
			return &r.queueFull
		case ioerr.ErrKeyBusy:
			return &r.keyBusy
		case ioerr.ErrOverloaded:
			return &r.overloaded
		case ioerr.ErrReentry:
			return &r.reentry
		case ioerr.ErrAcceptTimeout:
			return &r.late
		}
	}
	if err == ioerr.ErrShutdown {
		return &r.shutdown
	}
	return nil
}

// failure is the error of a call that ran and failed by itself.
func (c *core) failure(err error, label string, id handle.ID) *ioerr.Error {
	e := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done, Label: label, Lane: c.lane.Name(), Err: err}
	if !id.IsZero() {
		e.Handle = id
	}
	if off, ok := err.(*fileop.CalledOffError); ok {
		calledOff(e, off)
	}
	return e
}

// calledOff makes e the error of a call whose operation was called off. The context of that
// has ended, but not because the call has: so its cause tells who did it.
func calledOff(e *ioerr.Error, off *fileop.CalledOffError) {
	e.Outcome, e.Origin, e.Err = ioerr.Cancelled, ioerr.Lane, fileop.ErrCancelled
	if off.N == 0 {
		e.Effect = ioerr.None
	}
	if off.Cause == nil {
		return // the lane had a reason of its own
	}
	switch e.Err = off.Cause; {
	case errors.Is(off.Cause, ioerr.ErrShutdown):
		e.Outcome = ioerr.ShutdownInProgress
	case errors.Is(off.Ended, context.DeadlineExceeded):
		e.Outcome = ioerr.TimedOut
	}
}

// bad is the error for an argument.
func (c *core) bad(name string, value any, reason string) error {
	return c.count(argument(name, value, reason))
}

// argument is bad where there is no pool yet.
func argument(name string, value any, reason string) *ioerr.Error {
	return invalid(&ioerr.ArgumentError{Name: name, Value: value, Reason: reason})
}

// invalid is the error for an *ioerr.ArgumentError.
func invalid(err error) *ioerr.Error {
	return &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Err: err}
}

// counts are the pool's counters of calls. Only those that do not succeed pay for
// them, by one addition each. Destroy and Shutdown are no calls. A panic is counted
// after its outcome and read before it, so a part is never more than its whole.
type counts struct {
	refused, ran     [ioerr.ShutdownInProgress + 1]atomic.Uint64 // by outcome
	panicked, exited atomic.Uint64                               // of those that ran
}

func (c *core) count(e *ioerr.Error) error {
	if e.Effect == ioerr.None {
		c.counts.refused[e.Outcome].Add(1)
	} else {
		c.counts.ran[e.Outcome].Add(1)
	}
	return e
}

// tell fills in what the counters say.
func (c *counts) tell(s *Stats) {
	s.Panicked, s.Exited = c.panicked.Load(), c.exited.Load()
	total := func(o ioerr.Outcome) uint64 {
		ran := c.ran[o].Load()
		s.Ran += ran
		return ran + c.refused[o].Load()
	}
	s.Failed, s.Cancelled = total(ioerr.Failed), total(ioerr.Cancelled)
	s.TimedOut, s.Shutdown = total(ioerr.TimedOut), total(ioerr.ShutdownInProgress)
}

// undone is the error of a Register or Replace whose resource was disposed of at
// once, since the handle was retired by the time it was open.
func (c *core) undone(id handle.ID, label string) error {
	e := &ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Handle, Effect: ioerr.Done,
		Label: label, Handle: id, Lane: c.lane.Name(), Err: ioerr.ErrHandleNotFound,
	}
	if c.state.Load() != stateOpen {
		e.Outcome, e.Origin, e.Err = ioerr.ShutdownInProgress, ioerr.Executor, ioerr.ErrShutdown
	}
	return c.count(e)
}

// leftRunning is the error of a caller that would not wait for the end of what
// goes on without it.
func (c *core) leftRunning(ctx context.Context, id handle.ID, why error) error {
	e := &ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.Unknown,
		Lane: c.lane.Name(), Err: why,
	}
	if ctx.Err() != nil { // else a lane would not shut down
		e.Outcome = outcomeOf(ctx)
	}
	if !id.IsZero() {
		e.Handle = id
	}
	return e
}

// outcomeOf tells a deadline from a cancellation, by what the context says and
// not by its cause, which may be anything.
func outcomeOf(ctx context.Context) ioerr.Outcome {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ioerr.TimedOut
	}
	return ioerr.Cancelled
}
