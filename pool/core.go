package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
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
	carrier lane.Carrier   // the lane, if it runs calls itself; else nil
	native  lane.Operator  // the lane, if it does operations itself; else nil
	direct  *lanegate.Gate // of a lane of package lane that has only one; else nil
	short   *lanegate.Gate // direct, if the pool takes calls the short way; else nil
	gate    *lanegate.Gate // nil if the lane's admission serves as the pool's
	sharded bool           // the calls of one handle belong to one part of the lane
	owner   uint64         // names the pool to the lane

	unguarded bool
	shared    bool                     // resources may have several holders
	ready     atomic.Pointer[refusals] // see refusals
	here      site                     // of calls without a handle
	afloat    site                     // of fibers without a slot
	fibers    fibers                   // these
	signal    fileop.Signal            // for operations that are interrupted

	state    atomic.Uint32 // a state; written under Shutdown's turn
	giveUp   lazyContext   // ends, with ErrShutdown, when a shutdown gives up on the calls
	draining lazyContext   // ends, with ErrShutdown, when a shutdown begins
	past     lazyContext   // has always ended
	over     joined        // past, for calls that have ended

	calls  calls
	counts counts
	events events
	hooks  hooks

	parcels sync.Pool // of *parcel of whatever type of result

	rules  HealthRules // completed
	judges bool        // calls have a say about the health of their handle

	hookFailed func(error) // notes a hook's failure for the report
}

// The states of a pool, forward only.
const (
	stateNone     uint32 = iota // not made by New
	stateOpen                   // left by the first Shutdown
	stateDraining               // left when everything has ended
	stateClosed
)

// stay is what one call occupies, from enter to leave. It lives on the caller's
// stack, and is small so that this need not grow.
type stay struct {
	core *core
	at   *site // what it holds
	mark *mark // the context of the call, if that is to be ended with it

	plain   bool // the caller's context is context.Background()
	counted bool // by core.gate, in the shard inside
	seated  bool // it has a slot of core.direct, in the shard seat
	slotted bool // it has a slot of core.lane otherwise

	unjudged bool   // it says nothing about the health of its handle
	untimed  bool   // how long it ran is not known
	begun    bool   // it has a slot and runs
	ended    bool   // the call returned
	inside   uint32 // see counted
	seat     uint32 // see seated

	slot   lane.Slot  // of core.lane
	listed *call      // because it has a label; or nil
	until  *time.Time // the deadline of AcceptWithin, once it was asked for; or nil
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
		return c.count(&c.refusals().shutdown)
	case ctx == nil:
		return c.bad("ctx", nil, "must not be nil")
	case lacks != "":
		return c.bad(lacks, nil, "must not be nil")
	case identical(ctx, context.Background()):
		s.plain = true
	case ctx.Err() != nil:
		return c.refuse(ctx, ctx.Err(), ioerr.Executor, "", handle.ID{})
	}
	return nil
}

// outer is the mark of the call around this one, or nil. Only a call that may have to
// wait needs to know.
func (s *stay) outer(ctx context.Context) *mark {
	if s.plain || s.core.unguarded {
		return nil
	}
	return markOf(ctx)
}

// lacks is the name if there is something that is nil.
func lacks(isNil bool, name string) string {
	if isNil {
		return name
	}
	return ""
}

// enter gets the call into the lane, or says why not. leave must follow in any case,
// also if the lane or the caller's context panics. at is what the call holds; with a
// handle its lease is held already.
//
// With a ticket the call stands in line for core.direct, and has to wait for its seat.
// That is done from where the call is run: a goroutine begins with a stack of 2 KiB, the
// select of a caller who may give up needs a quarter of that, and to copy the stack to
// a larger one costs more than a turn in the queue.
func (s *stay) enter(ctx context.Context, at *site, opts []Option) (*lanegate.Ticket, error) {
	c := s.core
	s.at = at
	if c.gate != nil && s.at == &c.here {
		if e := c.goInside(s); e != nil {
			return nil, c.count(e)
		}
	}
	if c.direct == nil || len(opts) > 0 || c.calls.watch != nil {
		lc := callOf(opts)
		if err := s.enterLane(ctx, &lc); err != nil {
			return nil, c.refuse(ctx, err, ioerr.Lane, lc.Label, s.at.id)
		}
		return nil, nil
	}
	r := c.direct.Plain()
	r.Owner, r.NoWait = c.owner, s.nested(ctx)
	if !r.NoWait && c.direct.Reject() {
		return nil, c.count(&c.refusals().queueFull)
	}
	seat, v, t := c.direct.Line(&r)
	if t != nil {
		return t, nil
	}
	return nil, s.take(ctx, seat, v)
}

// take is the end of admission by core.direct.
func (s *stay) take(ctx context.Context, seat lanegate.Slot, v lanegate.Verdict) error {
	if v != lanegate.Granted {
		return s.core.refuse(ctx, v.Refusal(ctx), ioerr.Lane, "", s.at.id)
	}
	s.seated, s.seat = true, seat.Shard()
	return nil
}

// nested reports whether the caller holds a slot of the lane already.
func (s *stay) nested(ctx context.Context) bool {
	return !s.plain && s.outer(ctx).holdsLane(s.core.lane)
}

// enterLane is enter for calls with options and for any lane. The error is the lane's.
func (s *stay) enterLane(ctx context.Context, lc *lane.Call) (err error) {
	c := s.core
	if c.gated != nil && lc.Key == "" && !lc.Urgent && (s.at == &c.here || !c.sharded) {
		var ok bool
		if s.slot, ok = c.gated.Try(); ok {
			s.slotted = true
			s.list(lc.Label, runs)
			return nil
		}
	}
	if s.until != nil {
		lc.Accept = *s.until
	}
	lc.Owner, lc.Handle = c.owner, s.at.id.Uint64()
	lc.NoWait = lc.NoWait || s.nested(ctx)
	s.list(lc.Label, waitsForLane)
	if s.slot, err = c.lane.Enter(ctx, *lc); err != nil {
		return err
	}
	if c.gated == nil && c.state.Load() != stateOpen { // such a lane could not wake it
		c.lane.Leave(s.slot)
		return ioerr.ErrShutdown
	}
	s.slotted = true
	s.list(lc.Label, runs)
	return nil
}

// begin returns the context of a call that has its slot.
func (s *stay) begin(ctx context.Context) context.Context {
	s.begun = true
	ctx, s.mark = s.at.begin(ctx, s.plain)
	return ctx
}

// leave gives back what enter took. The lease, if any, is given back after that:
// so the next in line for the handle finds the slot free, and a shutdown, which
// waits for the lease, also waits for the lane.
func (s *stay) leave() {
	if s.listed != nil {
		s.strike()
	}
	if s.mark != nil {
		defer s.release() // a context of somebody's making may panic
		s.mark.end()
		return
	}
	s.release()
}

func (s *stay) release() {
	switch {
	case s.seated:
		s.core.direct.Slot(s.seat).Release()
	case s.slotted:
		s.core.lane.Leave(s.slot)
	}
	if s.counted {
		s.core.gate.Slot(s.inside).Release()
	}
}

// goInside counts the call at the pool's own gate, which has room for half a
// million.
func (c *core) goInside(s *stay) *ioerr.Error {
	slot, ok := c.gate.Try()
	if !ok {
		var v lanegate.Verdict
		slot, v = c.gate.Acquire(context.Background(), &lanegate.Request{NoWait: true})
		if v == lanegate.Busy {
			return &c.refusals().overloaded
		} else if v != lanegate.Granted {
			return &c.refusals().shutdown
		}
	}
	s.counted, s.inside = true, slot.Shard()
	return nil
}
