package pool

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/internal/signal"
)

// EventKind says what has happened.
type EventKind uint8

// The events of a pool. Those of the first group need Config.Watch.
const (
	CallSlow   EventKind = iota + 1 // Call has run for longer than Watch.Slow
	CallEnded                       // Call, of which CallSlow told, has ended
	QueueSlow                       // Call has waited for longer than Watch.Queue
	QueueMoves                      // no call waits for that long any more
	LaneWedged                      // for Age no call has ended, though Waiting calls wait for the lane
	LaneMoves                       // a call has ended after all, or none waits any more

	CallLeft // the caller of Call has left it running; Err says why
	LateEnd  // Call, of which CallLeft told, has ended; Fate is that of its result

	HealthChanged // the handle of Call is Health now (Probing is not told); Err is the cause, if that is worse
)

// String returns the kind in lower case.
func (k EventKind) String() string {
	switch k {
	case CallSlow:
		return "call slow"
	case CallEnded:
		return "call ended"
	case QueueSlow:
		return "queue slow"
	case QueueMoves:
		return "queue moves"
	case LaneWedged:
		return "lane wedged"
	case LaneMoves:
		return "lane moves"
	case CallLeft:
		return "call left"
	case LateEnd:
		return "late end"
	case HealthChanged:
		return "health changed"
	}
	return "unknown"
}

// Event is one thing that has happened. Fields that the kind does not name are zero.
type Event struct {
	Kind    EventKind
	Lane    string // the name of the pool's lane
	Call    Call
	Age     time.Duration
	Waiting int
	Fate    Fate
	Health  Health
	Err     error
}

// String tells the event in one line.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if k := e.Kind; e.Lane != "" && (k == LaneWedged || k == LaneMoves || k == QueueSlow || k == QueueMoves) {
		b.WriteString(" " + e.Lane)
	}
	if c := e.Call.String(); c != "" {
		b.WriteString(": " + c)
	}
	if e.Kind == LaneWedged {
		fmt.Fprintf(&b, ": %d wait, none has ended for %v", e.Waiting, e.Age)
	}
	if e.Kind == LateEnd {
		b.WriteString(", result " + e.Fate.String())
	}
	if e.Kind == HealthChanged {
		b.WriteString(" is " + e.Health.String())
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Fate is what became of the result of a call that was left.
type Fate uint8

// The fates.
const (
	NoResult   Fate = iota // the call failed; Err says how
	Dropped                // there was nothing to undo it with
	Undone                 // by Undo
	UndoFailed             // Err says how
	Discarded              // it was a resource (Register, Replace), and is disposed of like any
)

// String returns the fate in lower case.
func (f Fate) String() string {
	switch f {
	case NoResult:
		return "none"
	case Dropped:
		return "dropped"
	case Undone:
		return "undone"
	case UndoFailed:
		return "not undone"
	case Discarded:
		return "discarded"
	}
	return "unknown"
}

// events delivers events in order, one at a time, on a goroutine that lives while there
// are any: nobody who has something to report can be held up by who listens.
type events struct {
	fn   func(Event) // nil: nobody listens
	lane string

	mu         sync.Mutex // a leaf
	pending    []Event
	delivering bool
	quiet      signal.Crowd // who waits until everything is delivered

	missed, panicked atomic.Uint64
}

// maxPending bounds what is kept for a callback that does not keep up.
const maxPending = 1024

func (o *events) post(e Event) {
	if o.fn == nil {
		return
	}
	e.Lane = o.lane
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == maxPending {
		o.missed.Add(1)
		return
	}
	o.pending = append(o.pending, e)
	if !o.delivering {
		o.delivering = true
		go o.deliver()
	}
}

// deliver empties the list. If the callback ends the goroutine, another one goes on with
// the next event.
func (o *events) deliver() {
	finished := false
	defer func() {
		if !finished {
			go o.deliver()
		}
	}()
	for {
		e, ok := o.next()
		if !ok {
			finished = true
			return
		}
		o.call(e)
	}
}

func (o *events) next() (e Event, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		o.delivering, o.pending = false, nil
		o.quiet.WakeAll()
		return e, false
	}
	e = o.pending[0]
	o.pending = o.pending[1:]
	return e, true
}

// wait waits until everything is delivered. It reports false if ctx ended first.
func (o *events) wait(ctx context.Context) bool {
	o.mu.Lock()
	if !o.delivering {
		o.mu.Unlock()
		return true
	}
	return o.quiet.Wait(ctx, &o.mu)
}

func (o *events) call(e Event) {
	defer func() {
		if recover() != nil {
			o.panicked.Add(1)
		}
	}()
	o.fn(e)
}
