package lanegate

import (
	"cmp"
	"context"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// Verdict is the answer to a request.
type Verdict uint32

// The verdicts. Only with Granted is there a slot.
const (
	Granted    Verdict = iota + 1
	Full               // queue full, and the caller would not wait for acceptance
	Overloaded         // queue and waiting room full
	Closed             // the gate is closing or shut
	Busy               // no free slot, and the caller would not wait at all
	Expired            // not accepted in time
	Ended              // the caller's context ended first
	Hopeless           // barred: no slot will come free, for all anybody knows
)

// Refusal is the error of package ioerr, or of the context, that tells a caller of a
// lane the verdict. Granted has none.
func (v Verdict) Refusal(ctx context.Context) error {
	switch v {
	case Full:
		return ioerr.ErrQueueFull
	case Overloaded:
		return ioerr.ErrOverloaded
	case Busy:
		return ioerr.ErrReentry
	case Expired:
		return ioerr.ErrAcceptTimeout
	case Ended:
		return cmp.Or(ctx.Err(), context.Canceled) // in case a context of somebody's making is done without an error
	case Closed:
		return ioerr.ErrShutdown
	case Hopeless:
		return ioerr.ErrSaturated
	case Granted:
	}
	return nil
}

// Request says how a caller wants to be admitted.
type Request struct {
	Urgent   bool      // uses reserved slots too and stands in the urgent line
	FailFast bool      // does not wait for acceptance
	NoWait   bool      // takes a free slot or nothing
	Must     bool      // duty of the owner: passes a draining gate and the bounds of the line
	Beyond   bool      // waits for acceptance however many do
	Inherits bool      // minds being the last one out of a closed gate
	Expire   time.Time // acceptance deadline; zero: none
	Owner    uint64    // whom Evict may name
}

// Acquire admits the caller or says why not. It returns Ended when ctx ended
// before the call could start, also when a slot was handed over at that moment:
// that slot has been passed on. Only a caller that inherits keeps its slot on a
// closed gate even so (Granted), since the last one out has to report it: see
// [Slot.Release].
func (g *Gate) Acquire(ctx context.Context, r *Request) (Slot, Verdict) {
	s, v, t := g.Line(r)
	if t != nil {
		s, v = g.Wait(ctx, t)
	}
	return s, v
}

// Line is the half of Acquire that does not wait. With a ticket the caller stands in
// line and has to call Wait. Whoever calls the two by himself sleeps on a smaller stack:
// see package pool.
func (g *Gate) Line(r *Request) (Slot, Verdict, *Ticket) {
	if s, v := g.pass(r); v != 0 {
		return s, v, nil
	}
	t := g.tickets.get()
	s, v := g.enter(t, r)
	if v != 0 {
		g.tickets.put(t)
		t = nil
	}
	return s, v, t
}

// pass decides without the mutex. Without a verdict enter has to.
func (g *Gate) pass(r *Request) (Slot, Verdict) {
	if g.flags.Load()&g.block == 0 {
		if s, ok := g.claim(true, r.Urgent, false); ok {
			return s, Granted
		}
	}
	if r.FailFast && !r.NoWait && !r.Urgent && !r.Must && g.rejects() {
		return Slot{}, Full
	}
	return Slot{}, 0
}

// Plain is the request of a caller without wishes.
func (g *Gate) Plain() Request { return Request{FailFast: g.failFast} }

// Reject refuses, as Full, a plain caller of a gate whose callers fail fast. False
// means only that Acquire has to look.
func (g *Gate) Reject() bool { return g.failFast && g.rejects() }

// rejects refuses a caller that waits for nothing, without the mutex, so that a flood of
// callers cannot hold up the line.
//
// It refuses what the mutex would refuse: the queue was full (or it has no room at all)
// while no slot was free, or while the line had the first right to every slot. Flags
// that are the same before and after the look at the slots tell of both. A roused caller
// that moves from the queue to a slot clears full before it takes the slot (land), so it
// is not seen in both places. What else has an answer of its own, or is about to
// change, is left to the mutex.
func (g *Gate) rejects() bool {
	f := g.flags.Load()
	ordered := f&g.block != 0
	switch {
	case f&(closing|indebted|flight|bars) != 0 || g.tickets.evicts.Load() != 0:
		return false
	case f&full == 0 && (g.limits.queue > 0 || ordered):
		return false
	case !ordered && g.spare(closed|running):
		return false
	case !ordered && g.group != nil && g.group.lends(g):
		return false
	case g.flags.Load() != f:
		return false
	}
	g.rejected.Add(1)
	return true
}

// enter decides on admission in one critical section: a slot, a refusal, or, without a
// verdict, a place in the line.
func (g *Gate) enter(t *Ticket, r *Request) (Slot, Verdict) {
	now := g.patient.now()
	g.mu.Lock()
	if g.state == shut || !r.Must && (g.state == draining || !g.tickets.serves(r.Owner)) {
		g.counts.refused[Closed]++
		g.unlock()
		return Slot{}, Closed
	}
	g.raise() // before the look at the slots: see the package comment
	class := &g.lines[index(r.Urgent)]
	ordered := g.ordered()
	normal := !ordered || g.total == 0
	reserved := r.Urgent && (!ordered || class.head() == nil)
	if s, ok := g.claim(normal, reserved, r.Must); ok {
		g.lower()
		g.unlock()
		return s, Granted
	}
	accepted := r.Must || class.queue.n < g.limits.queue
	var v Verdict
	switch {
	case g.barred[index(r.Urgent)] && !r.Must:
		v = Hopeless
	case r.NoWait:
		v = Busy
	case accepted:
	case r.FailFast:
		v = Full
	case class.room.n >= g.limits.waiters && !r.Beyond:
		v = Overloaded
	case !r.Expire.IsZero() && !time.Now().Before(r.Expire):
		v = Expired
	}
	if v != 0 {
		g.counts.refused[v]++
		g.lower()
		g.unlock()
		return Slot{}, v
	}
	t.since, t.owner, t.urgent = now, r.Owner, r.Urgent
	t.expire, t.inherits, t.must = r.Expire, r.Inherits, r.Must
	if accepted {
		if h := class.room.head; h != nil { // on duty, goes past: as if it had come just before
			t.since = h.since
		}
		class.accept(t, g.limits)
	} else {
		class.room.pushBack(t)
	}
	g.total++
	g.arm(now)
	g.unlock()
	return Slot{}, 0
}

func index(urgent bool) int {
	if urgent {
		return 1
	}
	return 0
}

// ordered reports whether the line has a right to every slot that becomes free:
// newcomers stand in line, and a freed slot is handed over.
func (g *Gate) ordered() bool {
	return g.patient.strict() || g.flags.Load()&starving != 0
}
