package lanegate

// Bundle is a number of slots of one gate that belong to one caller. The zero Bundle is
// empty.
type Bundle struct {
	gate  *Gate
	held  [maxShards]uint32 // by shard
	total int
	last  uint32 // a shard at and above which none is held
}

// Grab takes up to n slots more that are free, if nobody waits for them. It does not wait.
func (b *Bundle) Grab(g *Gate, n int) {
	b.gate = g
	b.Grow(n)
}

// Grow is Grab at the same gate, and returns how many slots it has taken.
func (b *Bundle) Grow(n int) int {
	g, before := b.gate, b.total
	if g.flags.Load()&(g.block|waiting) != 0 {
		return 0
	}
	for i := range g.normal {
		s := &g.shards[i]
		for n > 0 {
			w := s.word.Load()
			taken, slots := w&(closed|running), s.slots.Load()
			if taken >= slots {
				break
			}
			k := min(slots-taken, uint64(n))
			if s.word.CompareAndSwap(w, w+k*oneCall) {
				b.held[i] += uint32(k)
				b.total += int(k)
				n -= int(k)
				break
			}
		}
	}
	b.last = g.normal
	return b.total - before
}

// Wanted reports whether somebody waits for a slot of the gate.
func (b *Bundle) Wanted() bool { return b.gate.flags.Load()&waiting != 0 }

// Len is how many slots there are.
func (b *Bundle) Len() int { return b.total }

// Drop gives one slot back.
func (b *Bundle) Drop() {
	for b.held[b.last-1] == 0 {
		b.last--
	}
	b.held[b.last-1]--
	b.total--
	b.gate.Slot(b.last - 1).Release()
}

// DropAll gives back what is left.
func (b *Bundle) DropAll() {
	for b.total > 0 {
		b.Drop()
	}
}
