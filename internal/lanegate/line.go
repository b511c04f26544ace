package lanegate

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/internal/signal"
)

// Ticket is one waiting caller. All fields but state are guarded by the mutex of
// the gate in whose line it stands; once state is set the waiter owns the rest.
type Ticket struct {
	signal.Parker
	list       *list // that it stands in; nil once it has left
	next, prev *Ticket

	since    int64       // when it came, on the gate's clock
	expire   time.Time   // Request.Expire
	timer    *time.Timer // of expire, if it was started
	owner    uint64      // for Evict
	urgent   bool
	inherits bool // Request.Inherits
	must     bool // Request.Must
	rousing  bool // a token to come and look is on its way; implies flight

	slot  Slot          // handed over; set before state
	state atomic.Uint32 // a Verdict once it is settled; then a token is on its way
}

// wake posts a token, if there is anybody to wake. No mutex is held.
func (t *Ticket) wake() {
	if t != nil {
		t.Wake()
	}
}

// Tickets is where callers that have to wait get their tickets, shared by gates
// that live and die together. A ticket goes back only after its token was taken, so
// a cached one has none.
type Tickets struct {
	cache   sync.Pool
	evicted sync.Map     // owners whose callers get none any more
	evicts  atomic.Int64 // how many these are: to look at the map costs too much, and it is mostly empty
}

// Evict refuses tickets to the callers of an owner until Forget. Gates look under
// their mutex, so once a gate's own Evict has followed none of them stands in its
// waiting room.
func (c *Tickets) Evict(owner uint64) {
	c.evicts.Add(1) // before it is in the map, so that they are never fewer than that
	if _, known := c.evicted.LoadOrStore(owner, nil); known {
		c.evicts.Add(-1)
	}
}

// Forget undoes Evict.
func (c *Tickets) Forget(owner uint64) {
	if _, known := c.evicted.LoadAndDelete(owner); known {
		c.evicts.Add(-1)
	}
}

// serves reports whether the owner's callers may wait.
func (c *Tickets) serves(owner uint64) bool {
	if owner == 0 || c.evicts.Load() == 0 {
		return true
	}
	_, out := c.evicted.Load(owner)
	return !out
}

func (c *Tickets) get() *Ticket {
	if t, _ := c.cache.Get().(*Ticket); t != nil {
		return t
	}
	return &Ticket{Parker: signal.NewParker()}
}

func (c *Tickets) put(t *Ticket) {
	if t.timer != nil {
		t.timer.Stop()
	}
	*t = Ticket{Parker: t.Parker}
	c.cache.Put(t)
}

// list is an intrusive doubly linked list.
type list struct {
	head, tail *Ticket
	n          int
}

func (l *list) pushBack(t *Ticket)  { l.insert(t, l.tail, nil) }
func (l *list) pushFront(t *Ticket) { l.insert(t, nil, l.head) }

func (l *list) insert(t, prev, next *Ticket) {
	t.list, t.prev, t.next = l, prev, next
	if prev == nil {
		l.head = t
	} else {
		prev.next = t
	}
	if next == nil {
		l.tail = t
	} else {
		next.prev = t
	}
	l.n++
}

func (l *list) remove(t *Ticket) {
	if t.prev == nil {
		l.head = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		l.tail = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.list, t.prev, t.next = nil, nil, nil
	l.n--
}

// line is the callers of one class, urgent or not: first the accepted ones, then
// those that wait for acceptance. The room is empty unless the queue is full.
type line struct {
	queue list
	room  list
}

// head is who is served next.
func (l *line) head() *Ticket {
	if l.queue.head != nil {
		return l.queue.head
	}
	return l.room.head
}

// accept puts a ticket into the queue.
func (l *line) accept(t *Ticket, m limits) {
	if m.lifo {
		l.queue.pushFront(t)
	} else {
		l.queue.pushBack(t)
	}
}
