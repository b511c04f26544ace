package pool

import (
	"context"
	"runtime"
	"strings"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// Shutdown closes the pool for good, in this order:
//
//  1. newcomers get ErrShutdown, and so do callers that wait for a handle or for
//     acceptance by the lane;
//  2. calls that were accepted run, and running calls run to their end;
//  3. each resource is disposed of, once, on the lane, as soon as no call uses it;
//  4. the lane is shut down if the pool owns it;
//  5. Shutdown returns when the last goroutine of the pool has gone.
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
		return c.bad("ctx", nil, "must not be nil")
	}
	if c.inside(ctx) {
		return c.refuse(ctx, ioerr.ErrReentry, ioerr.Lane, "", handle.ID{})
	}
	p.refuseNewcomers()
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return p.unfinished(ctx)
	}
	defer func() { <-p.turn }()
	if !p.wind(ctx) {
		return p.unfinished(ctx)
	}
	c.state.Store(stateClosed)
	return p.finished()
}

// Close is Shutdown without a bound. It makes a Pool an io.Closer.
func (p *Pool[R]) Close() error { return p.Shutdown(context.Background()) }

// refuseNewcomers is phase 1. It waits for nobody and may be repeated.
func (p *Pool[R]) refuseNewcomers() {
	p.state.CompareAndSwap(stateOpen, stateDraining)
	for _, e := range p.reg.Close() {
		p.bin.discard(e)
	}
	if p.gate != nil {
		p.gate.Close()
		if p.gated != nil {
			p.gated.Evict(p.owner)
		}
	} else {
		p.gated.Seal()
	}
}

// wind goes through the phases that wait, those that are done already at no cost.
// It reports false if ctx ended first. Only the holder of turn calls it.
func (p *Pool[R]) wind(ctx context.Context) bool {
	// Phase 2. Calls with a handle may still be inside a lane that is not the
	// pool's own; they end in phase 3.
	if p.gate != nil {
		if !p.gate.Drain(ctx) {
			return false
		}
	} else if p.gated.Drain(ctx) != nil {
		return false
	}
	// Phase 3. No newcomer, no call without a handle: nothing is added to the
	// registry any more, and to the bin only by the last holder of a handle, before
	// the registry is empty.
	if !p.reg.WaitEmpty(ctx) || !p.bin.wait(ctx) {
		return false
	}
	// Phase 4.
	return !p.owned || p.lane.Shutdown(ctx) == nil
}

// inside reports whether the caller is, or seems to be, inside a call of the
// pool. The context tells for sure. A caller that did not pass its context on is
// found by its stack, which does not tell the pool: it is taken to be inside if
// the pool has calls running at all.
func (c *core) inside(ctx context.Context) bool {
	if c.unguarded {
		return false
	}
	if m := markOf(ctx); m != nil {
		return m.holdsPool(c)
	}
	return c.state.Load() != stateClosed && c.running() > 0 && onStack()
}

// running is the number of calls inside, as far as the pool can tell. Calls with a
// handle on a lane that is not the pool's own are counted with the lane's.
func (c *core) running() int { return c.lane.Stats().Running }

// onStack reports whether a call of some pool is on the goroutine's stack.
func onStack() bool {
	pc := make([]uintptr, 64)
	for skip := 2; ; skip += len(pc) {
		n := runtime.Callers(skip, pc)
		frames := runtime.CallersFrames(pc[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if name, _, _ := strings.Cut(f.Function, "["); name == pkg+"Run" || name == pkg+"Transact" {
				return true
			}
		}
		if n < len(pc) {
			return false
		}
	}
}

const pkg = "github.com/iolane/iolane/pool."
