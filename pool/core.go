package pool

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

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
	lane    lane.Lane
	owned   bool
	gated   lane.Gated     // the lane, if it has the methods; else nil
	gate    *lanegate.Gate // nil if the lane's admission serves as the pool's
	sharded bool           // the calls of one handle belong to one part of the lane
	owner   uint64         // names the pool to the lane

	unguarded bool
	refusals  refusals
	here      site // of calls without a handle

	state  atomic.Uint32 // a state; written under Shutdown's turn
	giveUp context.Context
	cancel context.CancelCauseFunc
	over   joined // of calls that have ended

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
	core    *core
	outer   *mark     // the call around this one
	plain   bool      // the caller's context is context.Background()
	entered bool      // it has a slot
	ended   bool      // the call returned
	at      *site     // what it holds
	label   string    // its name
	until   time.Time // what AcceptWithin allows, once it was asked for

	ctx    context.Context // what the call gets
	mark   *mark           // to be ended; nil if ctx was ready-made
	slot   lane.Slot
	inside lanegate.Slot // of core.gate
	listed *call         // because it has a label; or nil
}

// check refuses what needs no lane to refuse. The order is the promise: lifecycle,
// then the context. lacks names a function that is nil.
func (s *stay) check(ctx context.Context, c *core, lacks string) error {
	if c == nil || c.state.Load() == stateNone {
		return argument("p", "pool.Pool", "was not made by pool.New")
	}
	s.core = c
	switch {
	case c.state.Load() != stateOpen:
		return c.count(&c.refusals.shutdown)
	case ctx == nil:
		return c.bad("ctx", nil, "must not be nil")
	case lacks != "":
		return c.bad(lacks, nil, "must not be nil")
	case ctx == context.Background():
		s.plain = true
	case ctx.Err() != nil:
		return c.refuse(ctx, ctx.Err(), ioerr.Executor, "", handle.ID{})
	case !c.unguarded:
		s.outer = markOf(ctx)
	}
	return nil
}

// lacks is the name if there is something that is nil.
func lacks(isNil bool, name string) string {
	if isNil {
		return name
	}
	return ""
}

// enter gets the call into the lane. leave must follow in any case, also if the
// lane or the caller's context panics. at is what the call holds; with a handle its
// lease is held already.
func (s *stay) enter(ctx context.Context, at *site, opts []Option) error {
	c := s.core
	s.at = at
	if c.gate != nil && at == &c.here {
		if e := c.goInside(s); e != nil {
			return c.count(e)
		}
	}
	ok := false
	if c.gated != nil && len(opts) == 0 && (at == &c.here || !c.sharded) {
		s.slot, ok = c.gated.Try()
	}
	if !ok {
		lc := callOf(opts)
		s.bound(&lc)
		lc.Owner, lc.Handle = c.owner, at.id.Uint64()
		lc.NoWait = s.outer.holdsLane(c.lane)
		var err error
		if s.slot, err = c.lane.Enter(ctx, lc); err != nil {
			return c.refuse(ctx, err, ioerr.Lane, lc.Label, at.id)
		}
		if c.gated == nil && c.state.Load() != stateOpen { // such a lane could not wake it
			c.lane.Leave(s.slot)
			return c.count(&c.refusals.shutdown)
		}
		if s.label = lc.Label; s.label != "" {
			s.listed = c.calls.add(s.label, at.id)
		}
	}
	s.entered = true
	switch {
	case c.unguarded:
		s.ctx = ctx
	case s.plain:
		s.ctx = &at.plain
	default:
		s.mark = &mark{Context: ctx, site: at}
		s.ctx = s.mark
	}
	return nil
}

// leave gives back what enter took. The lease, if any, is given back after that:
// so the next in line for the handle finds the slot free, and a shutdown, which
// waits for the lease, also waits for the lane.
func (s *stay) leave() {
	if s.listed != nil {
		s.core.calls.remove(s.listed)
	}
	if s.mark != nil {
		s.mark.end()
	}
	if s.entered {
		s.core.lane.Leave(s.slot)
	}
	if s.inside != (lanegate.Slot{}) {
		s.inside.Release()
	}
}

// bound makes AcceptWithin one deadline for both waits: the first to ask sets it.
func (s *stay) bound(lc *lane.Call) {
	if s.until.IsZero() {
		s.until = lc.Accept
	}
	lc.Accept = s.until
}

// goInside counts the call at the pool's own gate, which has room for half a
// million.
func (c *core) goInside(s *stay) *ioerr.Error {
	var ok bool
	if s.inside, ok = c.gate.Try(); ok {
		return nil
	}
	var v lanegate.Verdict
	s.inside, v = c.gate.Acquire(context.Background(), lanegate.Request{NoWait: true})
	if v == lanegate.Granted {
		return nil
	}
	if v == lanegate.Busy {
		return &c.refusals.overloaded
	}
	return &c.refusals.shutdown
}

// failed is the error of a call that returned err.
func (s *stay) failed(err error) error {
	if err == nil {
		return nil
	}
	return s.core.leaf(err, s.label, s.at.id)
}

// unwound is the error of a call that did not return: recovered is what recover
// gave. With runtime.Goexit that is nil and the error reaches nobody, since the
// caller's goroutine is the one that ends.
func (s *stay) unwound(recovered any) error {
	if recovered == nil {
		defer s.core.counts.exited.Add(1)
		return s.core.leaf(ioerr.ErrGoexit, s.label, s.at.id)
	}
	defer s.core.counts.panicked.Add(1)
	return s.core.leaf(&ioerr.PanicError{Value: recovered, Stack: debug.Stack()}, s.label, s.at.id)
}
