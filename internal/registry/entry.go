package registry

import (
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/signal"
)

// Entry is one resource.
type Entry[R any] struct {
	ID       handle.ID
	Resource R // to be touched by the holder of the lease only; with shares, to be changed by its opener only

	gate   *lanegate.Gate // nil for one that was detached
	ready  atomic.Bool    // the resource is there
	lends  atomic.Bool    // a free slot of the gate may be lent; false for a shared one that is being opened, or barred
	barred barred         // set and cleared for the holder
	gone   signal.Latch   // fired by Disposed
	err    error          // how disposal went; set before gone
}

// Lease is the use of a resource: exclusive, or a share of it.
type Lease[R any] struct {
	*Entry[R]
	slot lanegate.Slot
}

// Release ends the lease. If it reports orphan, the resource was retired in the
// meantime and now belongs to the caller, who disposes of it.
func (l Lease[R]) Release() (orphan bool) { return l.slot.Release() }

// Commit ends the opening of an entry whose Resource has been set. As with
// Release, an orphan belongs to the caller.
func (l Lease[R]) Commit() (orphan bool) {
	l.ready.Store(true)
	l.lends.Store(true)
	return l.Release()
}

// Gone is closed when the retired resource has been disposed of; then Err tells
// how that went.
func (e *Entry[R]) Gone() <-chan struct{} { return e.gone.Done() }

// Err is the error that Disposed was given, once Gone is closed.
func (e *Entry[R]) Err() error { return e.err }

// Retired reports whether the entry is out of use for good.
func (e *Entry[R]) Retired() bool { return e.gate == nil || e.gate.Closed() }

// Held reports whether somebody holds a lease.
func (e *Entry[R]) Held() bool { return e.Holders() > 0 }

// Holders is how many hold a lease; more than one only with shares.
func (e *Entry[R]) Holders() int {
	if e.gate == nil {
		return 0
	}
	return e.gate.Stats().Running
}
