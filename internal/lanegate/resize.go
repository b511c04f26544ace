package lanegate

// Resize changes the number of slots. Growing rouses those who wait. Shrinking
// interrupts nobody: free slots are withdrawn at once, the rest as they are given
// back, and until then no caller that comes after Resize starts, except an urgent
// one on a reserved slot: these stay. n must be more than the reserved slots, and
// at most 65535 for each slot that [New] was given.
//
// A withdrawn slot is one that the gate itself occupies (withheld), so that the
// words of the shards need no second meaning.
func (g *Gate) Resize(n int) {
	g.mu.Lock()
	change := n - g.slots
	g.slots = n
	if change < 0 {
		g.debt -= change
		g.flags.Store(g.flags.Load() | indebted) // before the look at the slots
	} else {
		g.grow(change)
	}
	g.payDebt()
	t := g.rouseFree()
	g.unlock()
	t.wake()
	if g.group != nil {
		g.group.kick(g)
	}
}

// Most is how many calls may run at this moment: the slots, and after a Resize to fewer
// those that are still to be given back.
func (g *Gate) Most() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.slots + g.debt
}

// payDebt withdraws free slots while the gate owes some, and lets newcomers in
// again once nothing is owed.
func (g *Gate) payDebt() {
	for i := range g.normal {
		s := &g.shards[i]
		for g.debt > 0 {
			w := s.word.Load()
			if w&running >= s.slots.Load() {
				break
			}
			if s.word.CompareAndSwap(w, w+1) {
				g.withhold(i)
			}
		}
	}
	if f := g.flags.Load(); g.debt == 0 && f&indebted != 0 {
		g.flags.Store(f &^ indebted)
	}
}

func (g *Gate) withhold(i uint32) {
	if g.withheld == nil {
		g.withheld = make([]uint64, g.normal)
	}
	g.withheld[i]++
	g.debt--
}

// grow adds slots: first by owing less, then by giving withdrawn ones back, then
// by new ones, spread evenly however many small steps it takes.
func (g *Gate) grow(n int) {
	paid := min(n, g.debt)
	g.debt -= paid
	n -= paid
	for i := range g.withheld {
		back := min(uint64(n), g.withheld[i])
		g.withheld[i] -= back
		g.shards[i].word.Add(-back)
		n -= int(back)
	}
	for i := range g.normal {
		n += int(g.shards[i].slots.Load())
	}
	for i := range g.normal {
		g.shards[i].slots.Store(share(n, int(g.normal), int(i)))
	}
}

func (g *Gate) withheldSlots() int {
	n := 0
	for _, w := range g.withheld {
		n += int(w)
	}
	return n
}
