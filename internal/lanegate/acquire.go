package lanegate

import (
	"context"
	"time"

	"github.com/iolane/iolane/internal/signal"
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
)

// Request says how a caller wants to be admitted.
type Request struct {
	Urgent   bool      // uses reserved slots too and stands in the urgent line
	FailFast bool      // does not wait for acceptance
	NoWait   bool      // takes a free slot or nothing
	Must     bool      // duty of the owner: passes a draining gate and the bounds of the line
	Expire   time.Time // acceptance deadline; zero: none
	Owner    uint64    // whom Evict may name
}

// Acquire admits the caller or says why not. It returns Ended when ctx ended
// before the call could start, also when a slot was handed over at that moment:
// that slot has been passed on.
func (g *Gate) Acquire(ctx context.Context, r Request) (Slot, Verdict) {
	if g.flags.Load()&g.block == 0 {
		if s, ok := g.claim(r.Urgent, false, false); ok {
			return s, Granted
		}
	}
	t := g.tickets.get()
	s, v, queued := g.enter(t, r)
	if queued {
		s, v = g.wait(ctx, t, r.Expire)
		if v == Granted && ctx.Err() != nil {
			s.gate.handOver(s.shard, true)
			s, v = Slot{}, Ended
		}
	}
	g.tickets.put(t)
	return s, v
}

// enter decides on admission in one critical section: a slot, a place in the
// line (queued), or a refusal.
func (g *Gate) enter(t *ticket, r Request) (s Slot, v Verdict, queued bool) {
	now := g.patient.now()
	g.mu.Lock()
	if g.state == shut || g.state == draining && !r.Must {
		g.counts.refused[Closed]++
		g.unlock(nil)
		return Slot{}, Closed, false
	}
	g.raise() // before the look at the slots: see the package comment
	if s, ok := g.claim(r.Urgent, r.Must, g.barred(r.Urgent)); ok {
		g.lower()
		g.unlock(nil)
		return s, Granted, false
	}
	class := &g.lines[index(r.Urgent)]
	accepted := r.Must || class.queue.n < g.limits.queue
	switch {
	case r.NoWait:
		v = Busy
	case accepted:
	case r.FailFast:
		v = Full
	case class.room.n >= g.limits.waiters:
		v = Overloaded
	case !r.Expire.IsZero() && !time.Now().Before(r.Expire):
		v = Expired
	}
	if v != 0 {
		g.counts.refused[v]++
		g.lower()
		g.unlock(nil)
		return Slot{}, v, false
	}
	t.since, t.owner, t.urgent = now, r.Owner, r.Urgent
	if accepted {
		class.accept(t, g.limits)
	} else {
		class.room.pushBack(t)
	}
	g.total++
	g.arm(now)
	g.unlock(nil)
	return Slot{}, 0, true
}

func index(urgent bool) int {
	if urgent {
		return 1
	}
	return 0
}

// barred reports whether a newcomer must leave free normal slots to others.
func (g *Gate) barred(urgent bool) bool {
	if g.flags.Load()&(starving|indebted) != 0 {
		return true
	}
	return g.patient.strict() && (g.lines[1].head() != nil || !urgent && g.total > 0)
}

// wait sleeps until the ticket is settled, or takes it out of the line.
func (g *Gate) wait(ctx context.Context, t *ticket, expire time.Time) (Slot, Verdict) {
	done := ctx.Done()
	var expired <-chan time.Time
	if !expire.IsZero() && !g.accepted(t) {
		timer := time.NewTimer(time.Until(expire))
		defer timer.Stop()
		expired = timer.C
	}
	for {
		switch t.Sleep(done, expired) {
		case signal.Woken:
			if v := Verdict(t.state.Load()); v != 0 {
				return t.slot, v
			}
			if s, v := g.look(t); v != 0 {
				return s, v
			}
		case signal.Expired:
			if s, v := g.quit(t, Expired); v != 0 {
				return s, v
			}
			expired = nil // accepted in the meantime: the deadline is forgotten
		case signal.Done:
			if s, v := g.quit(t, Ended); v != 0 {
				return s, v
			}
		}
	}
}

func (g *Gate) accepted(t *ticket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return t.list != &g.lines[index(t.urgent)].room
}

// look is a roused caller trying for a free slot. Without one it stays in its
// place and goes back to sleep.
func (g *Gate) look(t *ticket) (Slot, Verdict) {
	g.mu.Lock()
	if v := Verdict(t.state.Load()); v != 0 { // settled while it was on its way
		g.mu.Unlock()
		return t.slot, v
	}
	t.rousing, g.flight = false, false
	s, ok := g.claim(t.urgent, true, false)
	if ok {
		g.favoured = t.urgent && g.lines[0].head() != nil && s.shard < s.gate.normal
		g.remove(t)
	} else {
		g.lost(t)
	}
	g.unlock(g.rouseFree())
	if !ok {
		return Slot{}, 0
	}
	return s, Granted
}

// quit takes the ticket of a caller that waits no longer out of the line. If the
// ticket was settled first that counts, except that a slot is passed on.
func (g *Gate) quit(t *ticket, why Verdict) (Slot, Verdict) {
	g.mu.Lock()
	if v := Verdict(t.state.Load()); v != 0 {
		g.mu.Unlock()
		t.Take()
		if v != Granted {
			return Slot{}, v
		}
		t.slot.gate.handOver(t.slot.shard, true)
		return Slot{}, why
	}
	inRoom := t.list == &g.lines[index(t.urgent)].room
	if why == Expired && !inRoom {
		g.mu.Unlock()
		return Slot{}, 0
	}
	if inRoom {
		g.counts.refused[why]++
	} else {
		g.counts.dropped++
	}
	roused := t.rousing
	t.rousing = false
	g.remove(t)
	var next *ticket
	if roused {
		g.flight = false
		next = g.rouseFree()
	}
	g.unlock(next)
	if roused {
		t.Take()
	}
	return Slot{}, why
}
