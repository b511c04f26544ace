package lanegate

// Release gives the slot back. It reports whether the gate is closed and this was
// the last one out: then the caller has inherited what the gate guarded. Exactly
// one of Close and the Releases reports so, unless Must callers come later, a caller
// that does not inherit gave the last slot back, or the gate belongs to a [Group].
func (s Slot) Release() (last bool) {
	g := s.gate
	if !g.lets(g.flags.Load()) {
		g.mu.Lock()
		t, last := g.handOver(s.shard)
		t.wake()
		return last
	}
	g.shards[s.shard].word.Add(^uint64(0))
	if !g.lets(g.flags.Load()) { // after the add: see the package comment
		return g.freed()
	}
	if g.group != nil {
		g.group.kick(g)
	}
	return false
}

// lets reports whether the flags let a slot be given back without the mutex: nobody
// waits, or somebody is on the way to see it, and the line has no right to it, it is
// not owed, and nobody asks who is the last.
func (g *Gate) lets(f uint32) bool { return f == 0 || f&flight != 0 && f&g.block == 0 }

// freed is the rest of a Release that found a flag only after it had freed the
// slot.
func (g *Gate) freed() (last bool) {
	g.mu.Lock()
	g.payDebt()
	last = g.inherit()
	t := g.rouseFree()
	g.unlock()
	t.wake()
	if g.group != nil {
		g.group.kick(g)
	}
	return last
}

// handOver gives a slot back while somebody waits, or the gate closes, or owes
// slots: it goes to whom it belongs. The mutex is held, and unlocked at the end; then
// the caller has to wake t.
func (g *Gate) handOver(i uint32) (t *Ticket, last bool) {
	sh := &g.shards[i]
	reserved := i == g.normal
	t = g.turn(reserved)
	switch {
	case g.debt > 0 && !reserved:
		g.withhold(i)
		g.payDebt()
		t = nil
	case t != nil && g.ordered():
		sh.word.Add(oneStarted)
		g.arriving.Add(1)
		if !reserved {
			g.favoured = t.urgent && g.lines[0].head() != nil
		}
		if t = g.settle(t, Granted, Slot{g, i}, g.patient.now()); t == nil {
			t = g.rouseFree() // it was on its way to some other slot, which is still free
		}
	default:
		sh.word.Add(^uint64(0))
		t = g.rouse(t)
	}
	last = g.inherit()
	none := g.total == 0
	g.unlock()
	if none && g.group != nil {
		g.group.kick(g)
	}
	return t, last
}

// passOn hands over the slot of a caller that has come too late to start. If it would
// inherit and the gate is closed, it does nothing and returns false.
func (s Slot) passOn(inherits bool) bool {
	g := s.gate
	g.mu.Lock()
	if inherits && g.state != open {
		g.mu.Unlock()
		return false
	}
	g.arriving.Add(-1)
	g.counts.returned++
	t, _ := g.handOver(s.shard)
	t.wake()
	return true
}

// turn is the caller whose turn it is for a freed slot: an urgent one first, but
// no two of them in a row while others wait, so that nobody starves.
func (g *Gate) turn(reserved bool) *Ticket {
	u, n := g.lines[1].head(), g.lines[0].head()
	if reserved || n == nil || u != nil && !g.favoured {
		return u
	}
	return n
}

// rouse marks t as on its way to a free slot, unless somebody already is. The
// result is to be woken after the mutex; it may be nil.
func (g *Gate) rouse(t *Ticket) *Ticket {
	f := g.flags.Load()
	if f&flight != 0 || t == nil {
		return nil
	}
	g.flags.Store(f | flight)
	t.rousing = true
	return t
}

// rouseFree rouses whoever could use a slot that is free now.
func (g *Gate) rouseFree() *Ticket {
	if g.total == 0 || g.flags.Load()&flight != 0 {
		return nil
	}
	if t := g.turn(false); t != nil && g.free(t.urgent) {
		return g.rouse(t)
	}
	if t := g.lines[1].head(); t != nil && g.free(true) {
		return g.rouse(t)
	}
	return nil
}

// land notes that t is on its way no more. Whoever calls it looks at the slots after
// it, under the same mutex. The queue does not count as full until unlock: see rejects.
func (g *Gate) land(t *Ticket) {
	t.rousing = false
	g.flags.Store(g.flags.Load() &^ (flight | full))
}

// settle takes t out of the line with the given verdict. The result is to be
// woken after the mutex; nil if a token is on its way already.
func (g *Gate) settle(t *Ticket, v Verdict, s Slot, now int64) (wake *Ticket) {
	g.remove(t, now)
	t.slot = s
	wake = t
	if t.rousing {
		g.land(t)
		wake = nil
	}
	t.state.Store(uint32(v))
	return wake
}

// remove takes t out of the line, promotes who now has a place in the queue, and
// lowers the flags that have no reason any more.
func (g *Gate) remove(t *Ticket, now int64) {
	t.list.remove(t)
	g.total--
	l := &g.lines[index(t.urgent)]
	for l.queue.n < g.limits.queue && l.room.n > 0 {
		p := l.room.head
		l.room.remove(p)
		l.accept(p, g.limits)
		g.counts.promoted++
	}
	g.counts.waited(now - t.since)
	g.lower()
	g.appease(now)
}

// raise announces a waiter. The mutex is held, and stays held until the ticket
// stands in the line or the flag is lowered again.
func (g *Gate) raise() {
	if f := g.flags.Load(); f&waiting == 0 {
		g.flags.Store(f | waiting)
	}
	if g.group != nil {
		g.group.raise(g)
	}
}

// lower withdraws the announcement when nobody waits.
func (g *Gate) lower() {
	if g.total != 0 {
		return
	}
	g.flags.Store(g.flags.Load() &^ (waiting | starving))
	if g.group != nil {
		g.group.lower(g)
	}
}

// queueFull reports whether the queue of the callers that are not urgent is full. A
// queue without room never is.
func (g *Gate) queueFull() bool {
	return g.limits.queue > 0 && g.lines[0].queue.n >= g.limits.queue
}

// unlock ends a critical section. What has become true in it is noted before the
// mutex is released; neighbours are kicked after that, and then the caller wakes whom
// it has to wake: not here, so that this needs less of its stack.
func (g *Gate) unlock() {
	if f := g.flags.Load(); g.queueFull() != (f&full != 0) {
		g.flags.Store(f ^ full)
	}
	if g.state != open && g.drained() {
		g.idlers.WakeAll()
	}
	g.noteEdges()
	kick := g.dissolved
	g.dissolved = false
	g.mu.Unlock()
	if kick {
		g.group.kick(g)
	}
}
