package lanegate

import "testing"

// atRest checks what always holds while no function of the gate is in progress:
// all callers run or sleep.
func atRest(t *testing.T, gs ...*Gate) {
	t.Helper()
	for i, g := range gs {
		g.mu.Lock()
		faults := g.faults()
		g.mu.Unlock()
		for _, f := range faults {
			t.Errorf("gate %d: %s", i, f)
		}
	}
}

// empty checks that nothing is left of all that was done to the gates.
func empty(t *testing.T, gs ...*Gate) {
	t.Helper()
	atRest(t, gs...)
	for i, g := range gs {
		s := g.Stats()
		if s.Running != 0 || s.Queued != 0 || s.Waiting != 0 || g.flags.Load()&^(closing|bars) != 0 {
			t.Errorf("gate %d: not empty: %+v, flags %b", i, s, g.flags.Load())
		}
		if g.group != nil && g.group.waiting.Load() != 0 {
			t.Errorf("gate %d: its group thinks that somebody waits", i)
		}
	}
}

// faults lists the invariants that the gate at rest breaks. The mutex is held.
func (g *Gate) faults() (broken []string) {
	fault := func(is bool, what string) {
		if is {
			broken = append(broken, what)
		}
	}
	inLine, rousing := 0, 0
	for i := range g.lines {
		l := &g.lines[i]
		inLine += l.queue.n + l.room.n
		fault(l.room.n > 0 && l.queue.n < g.limits.queue, "one waits for acceptance though the queue has room")
		fault(l.room.n > g.limits.waiters, "more wait for acceptance than may")
		for _, tickets := range []*list{&l.queue, &l.room} {
			n := 0
			for t := tickets.head; t != nil; t = t.next {
				n++
				if t.rousing {
					rousing++
				}
				fault(t.list != tickets, "a ticket does not know where it stands")
				fault(t.state.Load() != 0, "a ticket is settled and still in line")
				fault(t.next != nil && t.next.prev != t, "a list is broken")
			}
			fault(n != tickets.n, "a list has lost count")
		}
	}
	fault(inLine != g.total, "total is not the number in line")
	fault(rousing > 1, "two are on their way")
	fault(inFlight(g) != (rousing == 1), "flight says otherwise than the tickets")
	if u := g.lines[1].head(); g.total > 0 && !inFlight(g) {
		fault(g.free(g.turn(false).urgent) || u != nil && g.free(true), "lost wake-up: a slot is free, one waits, nobody is on his way")
	}

	f := g.flags.Load()
	fault((f&waiting != 0) != (g.total > 0), "the waiting flag says otherwise than the line")
	fault((f&indebted != 0) != (g.debt > 0), "the indebted flag says otherwise than the debt")
	fault((f&bars != 0) != g.barred[0], "the bars flag says otherwise than the bar")
	fault((f&closing != 0) != (g.state != open), "the closing flag says otherwise than the state")
	fault(f&starving != 0 && g.total == 0, "starving, and nobody waits")
	fault(g.total > 0 && !g.patient.strict() && !g.patient.armed && f&starving == 0, "one waits, and no clock runs")
	if g.group != nil {
		fault((g.group.waiting.Load()>>g.number&1 != 0) != (g.total > 0), "the group's bit says otherwise than the line")
	}

	slots := 0
	for i := range g.shards {
		slots += int(g.shards[i].slots.Load())
	}
	fault(g.debt < 0, "the debt is negative")
	fault(slots-g.withheldSlots()-g.debt != g.slots, "the slots do not add up")
	fault(g.inside() < 0 || g.inside() > g.slots+g.debt, "more run than may")
	return broken
}
