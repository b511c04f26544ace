package lanegate

import "sync/atomic"

// EdgeKind says what changed.
type EdgeKind uint8

// The edges. Busy and Idle alternate, and so do Saturated and Unsaturated.
const (
	EdgeBusy        EdgeKind = iota + 1 // the first caller stands in line
	EdgeIdle                            // nobody stands in line any more
	EdgeSaturated                       // the queue is full
	EdgeUnsaturated                     // the queue has room again
)

// Edge is one change of the line. Seq counts the edges of the gate from 1.
type Edge struct {
	Kind EdgeKind
	Seq  uint64
}

// edges is an outbox: changes are noted under the gate's mutex, where they
// happen, and delivered outside it in the same order by one goroutine at a time,
// whichever found the outbox unattended.
type edges struct {
	fn         func(Edge) // nil: nothing is noted
	busy, full bool
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

// note records the state of the line. It reports whether the caller has to
// deliver, once it has unlocked.
func (e *edges) note(busy, full bool) bool {
	if e.fn == nil || busy == e.busy && full == e.full {
		return false
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
	e.busy, e.full = busy, full
	if e.delivering || len(e.pending) == 0 {
		return false
	}
	e.delivering = true
	return true
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

// deliver empties the outbox. A callback that ends its goroutine ends only that:
// the next edge finds the outbox unattended.
func (g *Gate) deliver() {
	e := &g.edges
	finished := false
	defer func() {
		if !finished {
			g.mu.Lock()
			e.delivering = false
			g.mu.Unlock()
		}
	}()
	for {
		g.mu.Lock()
		if len(e.pending) == 0 {
			e.delivering = false
			g.mu.Unlock()
			finished = true
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
