package pool

import (
	"cmp"
	"context"
	"errors"

	"github.com/iolane/iolane/ioerr"
)

// Shutdown closes the pool for good, in this order:
//
//  1. newcomers get ErrShutdown, and so do callers that wait for a handle or for
//     acceptance by the lane;
//  2. calls that were accepted run, and running calls run to their end;
//  3. each resource is disposed of, once, on the lane, as soon as no call uses it;
//  4. the lane is shut down if the pool owns it;
//  5. Shutdown returns when the last goroutine of the pool has gone, and with it the
//     last event.
//
// ctx bounds the waiting. When it ends, the contexts of the calls still running
// are cancelled with the cause ErrShutdown, and the error says what the pool still
// waits for: errors.AsType[*pool.Report]. The pool stays closed to newcomers, what
// runs goes on, and Shutdown may be called again to finish the job.
//
// Without an error everything is gone. When everything is gone but a Dispose hook
// failed or was given up on, the error is a Report that lists it; later calls
// return the same. Shutdown is idempotent, concurrent callers all wait for the
// same end, and from inside a call of the pool it is ErrReentry, since it would
// wait for its caller.
func (p *Pool[R]) Shutdown(ctx context.Context) error {
	c := p.own()
	if c == nil || c.state.Load() == stateNone {
		return argument("p", "pool.Pool", "was not made by pool.New")
	}
	if ctx == nil {
		return argument("ctx", nil, "must not be nil")
	}
	if p.inside(ctx) {
		return &c.refusals().inside
	}
	p.refuseNewcomers()
	select {
	case p.turn <- struct{}{}:
	default:
		select {
		case p.turn <- struct{}{}:
		case <-ctx.Done():
			return p.unfinished(ctx, context.Cause(ctx))
		}
	}
	defer func() { <-p.turn }()
	if err := p.wind(ctx); err != nil {
		return p.unfinished(ctx, err)
	}
	c.state.Store(stateClosed)
	if p.gate != nil && p.gated != nil {
		p.gated.Forget(p.owner)
	}
	return p.finished()
}

// Close is Shutdown without a bound. It makes a Pool an io.Closer. From inside a
// call of some other pool, prefer Shutdown with the context of that call: Close
// cannot know whose call it is in, and if the pool is busy it takes the call for one
// of its own.
func (p *Pool[R]) Close() error { return p.Shutdown(context.Background()) }

// refuseNewcomers is phase 1. It waits for nobody and may be repeated.
func (p *Pool[R]) refuseNewcomers() {
	p.state.CompareAndSwap(stateOpen, stateDraining)
	for _, e := range p.reg.Close() {
		p.bin.discard(e)
	}
	p.ward.dischargeAll()
	p.fibers.close()
	if p.gate != nil {
		p.gate.Close()
		if p.gated != nil {
			p.gated.Evict(p.owner)
		}
	} else {
		p.gated.Seal()
	}
	p.draining.end()
}

// wind goes through the phases that wait, those that are done already at no cost.
// Its error is the cause of ctx, or that of a lane which does not shut down. Only
// the holder of turn calls it.
func (p *Pool[R]) wind(ctx context.Context) error {
	// Phase 2. Fibers that hold no slot are in no lane. Calls with a handle may still be
	// inside a lane that is not the pool's own; they end in phase 3.
	if !p.fibers.wait(ctx) {
		return context.Cause(ctx)
	}
	if p.gate != nil {
		if !p.gate.Drain(ctx) {
			return context.Cause(ctx)
		}
	} else if err := p.gated.Drain(ctx); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	// Phase 3. No newcomer, no call without a handle: nothing is added to the
	// registry any more, and to the bin only by the last holder of a handle, before
	// the registry is empty.
	if !p.reg.WaitEmpty(ctx) || !p.bin.wait(ctx) {
		return context.Cause(ctx)
	}
	// Phase 4.
	if p.owned && !p.laneGone {
		err := p.lane.Shutdown(ctx)
		_, gone := errors.AsType[*ioerr.StopError](err) // but a Stop hook has failed
		if err != nil && !gone {
			return cmp.Or(context.Cause(ctx), err)
		}
		if p.laneGone = true; gone {
			p.hookFailed(&ioerr.HookError{Hook: "stop", Err: err})
		}
	}
	// Phase 5.
	if !p.calls.watch.stop(ctx) || !p.events.wait(ctx) {
		return context.Cause(ctx)
	}
	return nil
}
