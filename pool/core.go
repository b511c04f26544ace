package pool

import (
	"context"
	"runtime/debug"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// core is the part of a pool that does not depend on the type of its resources:
// the way into the lane and out of it again.
//
// # Who counts a call as inside
//
// Shutdown has to refuse newcomers and wait for whoever is inside, in one
// decision, without a price on every call. If the pool owns a lane that can be
// sealed, the lane's own admission is that decision. Otherwise gate counts the
// calls that hold no lease; those that do are counted by the lease, since a
// shutdown retires every handle first.
type core struct {
	lane  lane.Lane
	owned bool
	gated lane.Gated     // the lane, if it has the methods; else nil
	gate  *lanegate.Gate // nil if the lane's admission serves as the pool's
	owner uint64         // names the pool to the lane

	unguarded bool
	refusals  refusals
	here      site // of calls without a handle

	state  atomic.Uint32 // a state; written under Shutdown's turn
	giveUp context.Context
	cancel context.CancelCauseFunc

	calls  calls
	counts counts
}

// The states of a pool, forward only.
const (
	stateNone     uint32 = iota // not made by New
	stateOpen                   // left by the first Shutdown
	stateDraining               // left when everything has ended
	stateClosed
)

// stay is what one call occupies, from enter to leave. It lives on the caller's
// stack.
type stay struct {
	core   *core
	ctx    context.Context // what the call gets
	mark   *mark           // to be ended; nil if ctx was ready-made
	slot   lane.Slot
	inside lanegate.Slot // of core.gate
	call   *call         // listed because it has a label; or nil
	label  string
	id     handle.ID
	ended  bool // the call returned
}

// check refuses what needs no lane to refuse. It returns the caller's mark, for
// nested calls. The order is the promise: lifecycle, then the context.
func (c *core) check(ctx context.Context, fnNil bool) (*mark, error) {
	if c == nil || c.state.Load() == stateNone {
		return nil, argument("p", "pool.Pool", "was not made by pool.New")
	}
	if c.state.Load() != stateOpen {
		return nil, c.refuse(nil, ioerr.ErrShutdown, ioerr.Executor, "", handle.ID{})
	}
	if ctx == nil {
		return nil, c.bad("ctx", nil, "must not be nil")
	}
	if fnNil {
		return nil, c.bad("fn", nil, "must not be nil")
	}
	if ctx == context.Background() {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, c.refuse(ctx, ctx.Err(), ioerr.Executor, "", handle.ID{})
	}
	if c.unguarded {
		return nil, nil
	}
	return markOf(ctx), nil
}

// enter gets the call into the lane. On success leave must follow. at is what the
// call holds; with a handle its lease is held already.
func (c *core) enter(ctx context.Context, s *stay, at *site, outer *mark, lc *lane.Call) error {
	if c.gate != nil && at == &c.here {
		if !c.goInside(s) {
			return c.refuse(nil, ioerr.ErrShutdown, ioerr.Executor, "", handle.ID{})
		}
	}
	lc.Owner = c.owner
	lc.NoWait = outer != nil && outer.holdsLane(c.lane)
	slot, err := c.lane.Enter(ctx, *lc)
	if err != nil {
		c.goOutside(s)
		return c.refuse(ctx, err, ioerr.Lane, lc.Label, at.id)
	}
	s.core, s.slot, s.label, s.id = c, slot, lc.Label, at.id
	switch {
	case c.unguarded:
		s.ctx = ctx
	case ctx == context.Background():
		s.ctx = &at.plain
	default:
		s.mark = &mark{Context: ctx, site: at}
		s.ctx = s.mark
	}
	if lc.Label != "" {
		s.call = c.calls.add(lc.Label, at.id)
	}
	return nil
}

// leave gives back what enter took. The lease, if any, is given back before.
func (s *stay) leave() {
	if s.call != nil {
		s.core.calls.remove(s.call)
	}
	if s.mark != nil {
		s.mark.end()
	}
	s.core.lane.Leave(s.slot)
	s.core.goOutside(s)
}

// goInside counts the call at the pool's own gate, which has room for any number.
func (c *core) goInside(s *stay) (ok bool) {
	if s.inside, ok = c.gate.Try(); !ok {
		var v lanegate.Verdict
		s.inside, v = c.gate.Acquire(context.Background(), lanegate.Request{NoWait: true})
		ok = v == lanegate.Granted
	}
	return ok
}

func (c *core) goOutside(s *stay) {
	if s.inside != (lanegate.Slot{}) {
		s.inside.Release()
	}
}

// failed is the error of a call that returned err.
func (s *stay) failed(err error) error {
	if err == nil {
		return nil
	}
	return s.core.leaf(err, s.label, s.id)
}

// unwound is the error of a call that did not return: recovered is what recover
// gave. With runtime.Goexit that is nil and the error reaches nobody, since the
// caller's goroutine is the one that ends.
func (s *stay) unwound(recovered any) error {
	if recovered == nil {
		s.core.counts.exited.Add(1)
		return s.core.leaf(ioerr.ErrGoexit, s.label, s.id)
	}
	s.core.counts.panicked.Add(1)
	return s.core.leaf(&ioerr.PanicError{Value: recovered, Stack: debug.Stack()}, s.label, s.id)
}
