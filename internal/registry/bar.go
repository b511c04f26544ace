package registry

import "sync/atomic"

// barred says why nobody is lent an entry, although it is neither idle nor retired;
// nil: it is not so.
type barred = atomic.Pointer[func() error]

// Bar refuses all who wait for a resource and all who come later, with what why
// returns, until Unbar. The entry must be held, by a holder that knows of it: it may
// never be given back, or not be fit to be lent. To bar it again changes the reason.
//
// An exclusive lease has to be kept as long as its entry is barred. Of a shared one the
// last share may be given back meanwhile: Try and Acquire do not lend what does not lend.
//
// Nobody is left waiting: whoever comes into the line after the gate was emptied has
// looked, under the gate's mutex, at the owners that get no tickets.
func (r *Registry[R]) Bar(e *Entry[R], why func() error) {
	if e.barred.Swap(&why) != nil {
		return
	}
	if r.shared() {
		e.lends.Store(false)
	}
	r.tickets.Evict(e.owner())
	e.gate.Evict(e.owner())
}

// Unbar undoes Bar, before the lease is released.
func (r *Registry[R]) Unbar(e *Entry[R]) {
	r.tickets.Forget(e.owner())
	e.barred.Store(nil)
	e.lends.Store(true)
}

// owner names the callers of an entry to its gate.
func (e *Entry[R]) owner() uint64 { return e.ID.Uint64() }

// Barred is the refusal of an entry that is barred, else nil.
func (e *Entry[R]) Barred() error {
	if why := e.barred.Load(); why != nil {
		return (*why)()
	}
	return nil
}
