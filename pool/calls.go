package pool

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/iolane/iolane/handle"
)

// calls lists the calls in progress that somebody wants to know of: those with a label
// and, if the pool is watched, all of them.
type calls struct {
	mu         sync.Mutex // before that of events and those of a handle's gate
	head, tail *call      // by when they came
	epoch      time.Time
	cache      sync.Pool
	watch      *watch // nil: nobody watches
}

// call is one entry, guarded by the list's mutex.
type call struct {
	label string
	at    *site // the handle to be barred if it does not end; or where calls without one are; or nil
	id    handle.ID
	phase phase
	since int64 // when that began, on the list's clock; of a call that was left, when it began to run

	slow   bool // CallSlow was reported
	barred bool // its handle is barred because of it

	next, prev *call
}

// phase is how far a call has come.
type phase uint8

const (
	waitsForHandle phase = iota
	waitsForLane
	runs
	runsAlone // its caller has left it
)

func (l *calls) now() int64 { return int64(time.Since(l.epoch)) }

// add lists a call.
func (l *calls) add(label string, id handle.ID, at *site, p phase) *call {
	c, _ := l.cache.Get().(*call)
	if c == nil {
		c = new(call)
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	*c = call{label: label, at: at, id: id, phase: p, since: now, prev: l.tail}
	if l.tail == nil {
		l.head = c
	} else {
		l.tail.next = c
	}
	l.tail = c
	l.watch.expect(c, now)
	return c
}

// move notes that a call has come to its next phase, at a site.
func (l *calls) move(c *call, at *site, p phase) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.phase == runsAlone { // left before it came to run
		p = runsAlone
	}
	c.at, c.phase = at, p
	if p != runsAlone {
		c.since = now
	}
	l.watch.expect(c, now)
}

// remove takes a call off the list and tells how long it ran, and whether its handle
// was barred because of it.
func (l *calls) remove(c *call) (took time.Duration, barred bool) {
	l.mu.Lock()
	now := l.now() // not before what the watch has seen
	if c.prev == nil {
		l.head = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.tail = c.prev
	} else {
		c.next.prev = c.prev
	}
	if c.phase >= runs {
		took = time.Duration(now - c.since)
	}
	if barred = c.barred; c.slow {
		l.watch.post(Event{Kind: CallEnded, Call: c.tell(now)})
	}
	l.mu.Unlock()
	*c = call{}
	l.cache.Put(c)
	return took, barred
}

// tell describes a call.
func (c *call) tell(now int64) Call {
	return Call{Label: c.label, Handle: c.id, Age: time.Duration(now - c.since), Waits: c.phase < runs, Left: c.phase == runsAlone, ForHandle: c.phase == waitsForHandle}
}

// list returns the calls that run, or those that wait, the oldest first.
func (l *calls) list(waiting bool) []Call {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Call
	for c := l.head; c != nil; c = c.next {
		if c.phase < runs == waiting {
			all = append(all, c.tell(now))
		}
	}
	slices.SortStableFunc(all, func(a, b Call) int { return cmp.Compare(b.Age, a.Age) })
	return all
}

// Call is a call in progress.
type Call struct {
	Label  string        // empty for a call without one
	Handle handle.ID     // that it uses, or waits for; zero outside transactions
	Age    time.Duration // since it began to run, or to wait; zero if that is not known, see Report
	Waits  bool          // it does not run yet
	Left   bool          // it runs on without its caller

	ForHandle bool // Waits for that, not for the lane
}
