package lanegate

import (
	"math/bits"
	"sync/atomic"
)

// Group joins gates that lend one another idle slots: each keeps its own line,
// and a caller is neither refused nor left waiting while a neighbour has a slot
// that its own line does not need.
//
// The argument against lost wake-ups is the one of the package comment with one
// more pair of words: a gate with a line raises its bit in waiting before it
// looks at its own and its neighbours' slots; whoever frees a slot looks at
// waiting after it. A neighbour's slot is lent only while that neighbour has no
// line, so a gate whose line dissolves looks at waiting, too. The model of this is
// docs/models/group.pml.
type Group struct {
	gates   []*Gate
	waiting atomic.Uint64 // bit i: gate i has a line
}

// MaxGroup is the largest number of gates in a group.
const MaxGroup = 64

// Join makes a group of open gates that nobody uses yet, at most MaxGroup.
func Join(gates []*Gate) *Group {
	gr := &Group{gates: gates}
	for i, g := range gates {
		g.group, g.number = gr, uint(i)
	}
	return gr
}

func (gr *Group) raise(g *Gate) { gr.waiting.Or(1 << g.number) }

func (gr *Group) lower(g *Gate) {
	if gr.waiting.Load()&(1<<g.number) != 0 {
		gr.waiting.And(^(uint64(1) << g.number))
		g.dissolved = true
	}
}

// lender reports whether g may give slots to neighbours.
func (g *Gate) lender() bool { return g.flags.Load()&(g.block|waiting) == 0 }

// borrow claims a slot of one of g's neighbours, never of a closed one: that may
// be drained already.
func (gr *Group) borrow(g *Gate) (Slot, bool) {
	for k := 1; k < len(gr.gates); k++ {
		p := gr.gates[(int(g.number)+k)%len(gr.gates)]
		if !p.lender() {
			continue
		}
		for i := range p.normal {
			if p.claimShard(i, closed|running) {
				return Slot{p, i}, true
			}
		}
	}
	return Slot{}, false
}

// lends reports whether borrow could succeed.
func (gr *Group) lends(g *Gate) bool {
	for _, p := range gr.gates {
		if p != g && p.lender() && p.spare(running) {
			return true
		}
	}
	return false
}

// kick rouses neighbours of g that have a line. No mutex is held.
func (gr *Group) kick(g *Gate) {
	for m := gr.waiting.Load() &^ (1 << g.number); m != 0; m &= m - 1 {
		p := gr.gates[bits.TrailingZeros64(m)]
		p.mu.Lock()
		t := p.rouseFree()
		p.unlock()
		t.wake()
	}
}
