package lanegate

import "sync/atomic"

// EdgeKind says what changed.
type EdgeKind uint8

// The edges. Busy and Idle alternate, and so do Saturated and Unsaturated, Barred and
// Unbarred.
const (
	EdgeBusy        EdgeKind = iota + 1 // the first caller stands in line
	EdgeIdle                            // nobody stands in line any more
	EdgeSaturated                       // the queue is full
	EdgeUnsaturated                     // the queue has room again
	EdgeBarred                          // whoever would have to wait is sent away
	EdgeUnbarred                        // callers may wait again
	EdgeOther                           // noted by the owner of the gate: see Announce
)

// Edge is one change of the line. Seq counts the edges of the gate from 1.
type Edge struct {
	Kind EdgeKind
	Seq  uint64
}

// edges is an outbox: changes are noted under the gate's mutex, where they
// happen, and delivered in the same order by a goroutine that lives while there
// are any. No caller delivers them itself: one that stands in line, or has just
// got a slot, would keep that from everybody while the callback hangs, and for
// good if the callback ends its goroutine.
type edges struct {
	fn         func(Edge) // nil: nothing is noted
	busy, full bool
	barred     bool
	seq        uint64
	pending    []Edge
	delivering bool

	panics atomic.Uint64
	missed atomic.Uint64
}

// maxPending bounds the outbox against a callback that does not keep up. Beyond
// it an edge cancels out with its opposite, so that what is delivered still
// alternates; both count as missed.
const maxPending = 1024

// noteEdges records the state of the line. The mutex is held.
func (g *Gate) noteEdges() {
	e := &g.edges
	busy, full, barred := g.total > 0, g.queueFull(), g.barred[0]
	if e.fn == nil || busy == e.busy && full == e.full && barred == e.barred {
		return
	}
	if barred && !e.barred {
		e.add(EdgeBarred, EdgeUnbarred)
	}
	// A line is busy before it is full, and has room before it is idle.
	if busy && !e.busy {
		e.add(EdgeBusy, EdgeIdle)
	}
	if full != e.full {
		if full {
			e.add(EdgeSaturated, EdgeUnsaturated)
		} else {
			e.add(EdgeUnsaturated, EdgeSaturated)
		}
	}
	if !busy && e.busy {
		e.add(EdgeIdle, EdgeBusy)
	}
	if !barred && e.barred {
		e.add(EdgeUnbarred, EdgeBarred)
	}
	e.busy, e.full, e.barred = busy, full, barred
	if !e.delivering && len(e.pending) > 0 {
		e.delivering = true
		go g.deliver()
	}
}

// Announce delivers an edge of the owner's, in its turn.
func (g *Gate) Announce(kind EdgeKind) {
	if g.edges.fn == nil {
		return
	}
	g.mu.Lock()
	defer g.unlock()
	g.edges.add(kind, 0)
	if !g.edges.delivering {
		g.edges.delivering = true
		go g.deliver()
	}
}

func (e *edges) add(kind, opposite EdgeKind) {
	e.seq++
	if len(e.pending) >= maxPending {
		for i := len(e.pending) - 1; i >= 0; i-- {
			if e.pending[i].Kind == opposite {
				e.pending = append(e.pending[:i], e.pending[i+1:]...)
				e.missed.Add(2)
				return
			}
		}
	}
	e.pending = append(e.pending, Edge{kind, e.seq})
}

// deliver empties the outbox. If a callback ends the goroutine, another one goes
// on with the next edge.
func (g *Gate) deliver() {
	e := &g.edges
	finished := false
	defer func() {
		if !finished {
			go g.deliver()
		}
	}()
	for {
		g.mu.Lock()
		if len(e.pending) == 0 {
			e.delivering = false
			finished = true
			g.unlock() // Drain waits for this
			return
		}
		next := e.pending[0]
		e.pending = append(e.pending[:0], e.pending[1:]...)
		g.mu.Unlock()
		e.call(next)
	}
}

func (e *edges) call(next Edge) {
	defer func() {
		if recover() != nil {
			e.panics.Add(1)
		}
	}()
	e.fn(next)
}
