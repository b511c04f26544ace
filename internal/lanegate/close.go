package lanegate

import "context"

// Close bars newcomers for good: from its return on nobody but Must callers is
// admitted, and whoever was not yet accepted gets Closed. Accepted callers keep
// their place and run. Later calls do nothing.
//
// It reports whether nobody was inside and nobody accepted; see [Slot.Release].
func (g *Gate) Close() (last bool) {
	g.mu.Lock()
	if g.state != open {
		g.mu.Unlock()
		return false
	}
	g.state = draining
	g.flags.Store(g.flags.Load() | closing)
	for i := range g.shards {
		g.shards[i].word.Or(closed)
	}
	wake := g.failRoom(func(*Ticket) bool { return true })
	last = g.inherit()
	wake = append(wake, g.rouseFree())
	g.unlock()
	for _, t := range wake {
		t.wake()
	}
	return last
}

// inherit reports, to one caller only, that the gate is closed and empty. Whoever
// makes it so comes by here: the mutex decides who is the last.
func (g *Gate) inherit() bool {
	if g.state == open || g.inherited || !g.idle() {
		return false
	}
	g.inherited = true
	return true
}

// Shut ends admission also for Must callers. Those already accepted still run.
// Who cares to inherit calls Close first.
func (g *Gate) Shut() {
	g.Close()
	g.mu.Lock()
	g.state = shut
	if t := g.patient.timer; t != nil && g.total == 0 {
		t.Stop()
	}
	g.mu.Unlock()
}

// Evict gives Closed to the callers of one owner that are not yet accepted.
func (g *Gate) Evict(owner uint64) {
	g.mu.Lock()
	wake := g.failRoom(func(t *Ticket) bool { return t.owner == owner })
	wake = append(wake, g.rouseFree())
	g.unlock()
	for _, t := range wake {
		t.wake()
	}
}

// failRoom refuses the chosen callers that wait for acceptance. The result is to
// be woken after the mutex.
func (g *Gate) failRoom(chosen func(*Ticket) bool) (wake []*Ticket) {
	for i := range g.lines {
		for t := g.lines[i].room.head; t != nil; {
			next := t.next
			if chosen(t) {
				g.counts.refused[Closed]++
				if t := g.settle(t, Closed, Slot{}, g.patient.now()); t != nil {
					wake = append(wake, t)
				}
			}
			t = next
		}
	}
	return wake
}

// Drain waits until nobody is inside or in line and the last edge was delivered.
// The gate must be closed, and the caller must not be its OnEdge. It returns false
// if ctx ended first.
func (g *Gate) Drain(ctx context.Context) bool {
	g.mu.Lock()
	if g.drained() {
		g.mu.Unlock()
		return true
	}
	return g.idlers.Wait(ctx, &g.mu)
}

// drained reports whether Drain has nothing to wait for.
func (g *Gate) drained() bool { return g.idle() && !g.edges.delivering }

// idle reports whether all slots are free and nobody stands in line. Its answer
// is final only once the gate is closed.
func (g *Gate) idle() bool { return g.total == 0 && g.inside() == 0 }

// inside is the number of slots in use.
func (g *Gate) inside() int {
	n := -g.withheldSlots()
	for i := range g.shards {
		n += int(g.shards[i].word.Load() & running)
	}
	return n
}

// Closed reports whether newcomers are refused for good.
func (g *Gate) Closed() bool { return g.flags.Load()&closing != 0 }
