package registry

import (
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// stuck is a call that holds a lease and was left by its caller.
type stuck struct {
	label string
	began time.Time
}

// stuckOn is the stuck call that holds an entry, or nil.
type stuckOn = atomic.Pointer[stuck]

// Stick refuses, with an *ioerr.StuckError, all who wait for a resource and all who come
// later, until Unstick: its holder may never give it back. The holder calls it, and does
// not wait.
//
// Nobody is left waiting: whoever comes into the line after the gate was emptied has
// looked, under the gate's mutex, at the owners that get no tickets.
func (r *Registry[R]) Stick(l Lease[R], label string, began time.Time) {
	l.stuck.Store(&stuck{label, began})
	r.tickets.Evict(l.owner())
	l.gate.Evict(l.owner())
}

// Unstick undoes Stick, before the lease is released.
func (r *Registry[R]) Unstick(l Lease[R]) {
	r.tickets.Forget(l.owner())
	l.stuck.Store(nil)
}

// owner names the callers of an entry to its gate.
func (e *Entry[R]) owner() uint64 { return e.ID.Uint64() }

// stuckError is the refusal because of a stuck call; nil if there is none.
func (e *Entry[R]) stuckError() error {
	s := e.stuck.Load()
	if s == nil {
		return nil
	}
	return &ioerr.StuckError{Label: s.label, Age: time.Since(s.began), Err: ioerr.ErrHandleBusy}
}
