package lanegate

// Bar sends away, as Hopeless, whoever waits, and from its return on whoever would have
// to wait: callers that are not urgent, or urgent ones too. Must callers go on waiting,
// and a slot that is free is given to whoever comes. It is for an owner that knows that
// every slot is taken for good, or for nobody knows how long. Unbar undoes it.
//
// Nobody slips into the line in between: whoever takes a place in it looks at the bar in
// the same critical section, so he is there when Bar looks at the line, or finds the bar.
//
// Calls of Bar and Unbar come one at a time, in the order of what they tell. Bar reports
// whether it sent the last one out of a closed gate; see [Slot.Release].
func (g *Gate) Bar(urgent bool) (last bool) {
	g.mu.Lock()
	g.barred = [2]bool{true, urgent}
	g.flags.Store(g.flags.Load() | bars)
	var wake []*Ticket
	for i, barred := range g.barred {
		if barred {
			wake = g.sendAway(&g.lines[i], wake)
		}
	}
	last = g.inherit()
	wake = append(wake, g.rouseFree()) // one who was on his way may have been sent away
	g.unlock()
	for _, t := range wake {
		t.wake()
	}
	return last
}

// Unbar lets callers wait again.
func (g *Gate) Unbar() {
	g.mu.Lock()
	g.barred = [2]bool{}
	g.flags.Store(g.flags.Load() &^ bars)
	g.unlock()
}

// sendAway empties a line but for those on duty, and adds those who are to be woken
// after the mutex, which is held. The room is first, so that nobody is promoted; there
// is none on duty in it.
func (g *Gate) sendAway(l *line, wake []*Ticket) []*Ticket {
	now := g.patient.now()
	for t := l.room.head; t != nil; t = l.room.head {
		g.counts.refused[Hopeless]++
		wake = append(wake, g.settle(t, Hopeless, Slot{}, now))
	}
	for t := l.queue.head; t != nil; {
		next := t.next
		if !t.must {
			g.counts.dropped++
			wake = append(wake, g.settle(t, Hopeless, Slot{}, now))
		}
		t = next
	}
	return wake
}
