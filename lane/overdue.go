package lane

import (
	"time"

	"github.com/iolane/iolane/ioerr"
)

// Who is to leave his call, and when: one watch for all calls of an Abandoning lane, and
// owners who give up on theirs.

// now is the time on the lane's clock, in nanoseconds.
func (l *Abandoning) now() int64 { return int64(time.Since(l.epoch)) }

// begin puts a call under the eyes of the watch.
func (l *Abandoning) begin(k *carried) {
	k.began = l.now()
	l.mu.Lock()
	l.running.pushBack(k)
	l.arm(k.began)
	var wake []*carried
	if cause, ok := l.givenUp[k.owner]; ok {
		wake = l.hurry(wake, k, cause)
	}
	l.mu.Unlock()
	wakeAll(wake)
}

// arm sets the watch for the oldest call, one timer for all: their limits are the
// same, so they become overdue in the order in which they began. mu is held.
func (l *Abandoning) arm(now int64) {
	k := l.running.head
	if l.armed || k == nil || l.rules.CallLimit == NoLimit {
		return
	}
	l.armed = true
	d := time.Duration(k.began-now) + l.rules.CallLimit
	if l.watch == nil {
		l.watch = time.AfterFunc(d, l.look)
	} else {
		l.watch.Reset(d)
	}
}

// look is the goroutine of the watch: it tells the callers of overdue calls to leave.
func (l *Abandoning) look() {
	now := l.now()
	l.mu.Lock()
	l.armed = false
	var wake []*carried
	for k := l.running.head; k != nil && now-k.began >= int64(l.rules.CallLimit); k = l.running.head {
		wake = l.hurry(wake, k, ioerr.ErrCallLimit)
	}
	l.arm(now)
	l.mu.Unlock()
	wakeAll(wake)
}

// hurry has the caller of a running call told to leave it, and adds the call to those
// that are to be woken after mu, which is held.
func (l *Abandoning) hurry(wake []*carried, k *carried, cause error) []*carried {
	l.running.remove(k)
	k.overdue, k.cause = true, cause
	if k.posted {
		return wake
	}
	k.posted = true
	return append(wake, k)
}

func wakeAll(calls []*carried) {
	for _, k := range calls {
		k.Wake()
	}
}

// GiveUp implements [Carrier].
func (l *Abandoning) GiveUp(owner uint64, cause error) {
	l.mu.Lock()
	if l.givenUp == nil {
		l.givenUp = make(map[uint64]error)
	}
	l.givenUp[owner] = cause
	var wake []*carried
	for k := l.running.head; k != nil; {
		next := k.next
		if k.owner == owner {
			wake = l.hurry(wake, k, cause)
		}
		k = next
	}
	l.mu.Unlock()
	wakeAll(wake)
}

// Forget implements [Gated].
func (l *Abandoning) Forget(owner uint64) {
	l.gated.Forget(owner)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.givenUp, owner)
}
