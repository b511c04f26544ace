package pool

import (
	"slices"
	"sync"
	"time"

	"github.com/iolane/iolane/handle"
)

// calls lists the running calls that have a label, with the time they began.
type calls struct {
	mu    sync.Mutex // a leaf
	head  *call
	cache sync.Pool
}

// call is one entry, guarded by the list's mutex.
type call struct {
	label      string
	id         handle.ID
	began      time.Time
	next, prev *call
}

func (l *calls) add(label string, id handle.ID) *call {
	c, _ := l.cache.Get().(*call)
	if c == nil {
		c = new(call)
	}
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	*c = call{label: label, id: id, began: began, next: l.head}
	if l.head != nil {
		l.head.prev = c
	}
	l.head = c
	return c
}

func (l *calls) remove(c *call) {
	l.mu.Lock()
	if c.prev == nil {
		l.head = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	l.mu.Unlock()
	*c = call{}
	l.cache.Put(c)
}

// list returns the calls, the oldest first.
func (l *calls) list() []Call {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Call
	for c := l.head; c != nil; c = c.next { // the newest first
		all = append(all, Call{Label: c.label, Handle: c.id, Age: now.Sub(c.began)})
	}
	slices.Reverse(all)
	return all
}

// Call is a call that is running.
type Call struct {
	Label  string        // empty for a call without one
	Handle handle.ID     // zero outside transactions
	Age    time.Duration // since it began to run; zero if that is not known, see Report
}
