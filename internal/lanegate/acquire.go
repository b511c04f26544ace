package lanegate

import (
	"context"
	"time"
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
// that slot has been passed on. Only on a closed gate such a caller keeps its slot
// (Granted), since the last one out has to report it: see [Slot.Release].
func (g *Gate) Acquire(ctx context.Context, r Request) (Slot, Verdict) {
	if g.flags.Load()&g.block == 0 {
		if s, ok := g.claim(true, r.Urgent, false); ok {
			return s, Granted
		}
	}
	t := g.tickets.get()
	s, v, queued := g.enter(t, r)
	if queued {
		s, v = g.wait(ctx, t, r.Expire)
	}
	g.tickets.put(t)
	return s, v
}

// enter decides on admission in one critical section: a slot, a place in the
// line (queued), or a refusal.
func (g *Gate) enter(t *ticket, r Request) (s Slot, v Verdict, queued bool) {
	now := g.patient.now()
	g.mu.Lock()
	if g.state == shut || !r.Must && (g.state == draining || !g.tickets.serves(r.Owner)) {
		g.counts.refused[Closed]++
		g.unlock(nil)
		return Slot{}, Closed, false
	}
	g.raise() // before the look at the slots: see the package comment
	class := &g.lines[index(r.Urgent)]
	ordered := g.ordered()
	normal := !ordered || g.total == 0
	reserved := r.Urgent && (!ordered || class.head() == nil)
	if s, ok := g.claim(normal, reserved, r.Must); ok {
		g.lower()
		g.unlock(nil)
		return s, Granted, false
	}
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
		if h := class.room.head; h != nil { // on duty, goes past: as if it had come just before
			t.since = h.since
		}
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

// ordered reports whether the line has a right to every slot that becomes free:
// newcomers stand in line, and a freed slot is handed over.
func (g *Gate) ordered() bool {
	return g.patient.strict() || g.flags.Load()&starving != 0
}
