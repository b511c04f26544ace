package pool

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// ward keeps the resources that are not well. One that is not to be used is taken in by
// the call that found it out: its lease is not given back, so that nobody gets it, but
// passed to the ward, and its handle barred. So those that are well cost nothing.
//
// A lease in the ward belongs to whoever takes the patient out of sick, under mu: the
// end of a probe, Replace, or discharge, which Destroy and Shutdown call after they have
// retired the handle. A patient that comes when its handle is retired already is sent
// back at once. Retiring closes the gate before discharge looks, admit adds the patient
// before it looks at the gate: so one of them sees the other, and mu says which.
//
// Of a resource with shares no lease is kept: a share would not keep others out, and the
// registry does not lend what is barred. All there is to be is Poisoned, which whoever
// finds it out says at once, while holding a share (see poison), and for good.
type ward[R any] struct {
	pool  *Pool[R]
	check func(R) error // Config.Check

	mu   sync.Mutex // before those of a handle's gate and of events
	sick map[handle.ID]*patient[R]
	some atomic.Int32 // len(sick), for those who find nobody
}

// patient is a resource that is not well, guarded by the ward's mutex.
type patient[R any] struct {
	state   Health
	bad     int   // calls in a row
	cause   error // the last thing that spoke against it
	since   time.Time
	lease   registry.Lease[resource[R]] // empty: it is in use, or may be
	due     time.Time                   // when it is to be probed
	timer   *time.Timer                 // for that
	turn    uint64                      // counts up when the timer is set, or not wanted any more; one that comes late is told by it
	probing bool                        // the lease is in the hands of a probe
	waiting chan struct{}               // of Replace, for the end of the probe or of the handle; closed by whichever comes first; or nil
	gone    bool                        // its handle was retired

	shared *registry.Entry[resource[R]] // with shares: barred, until it is retired
}

func (w *ward[R]) kept(pt *patient[R]) bool { return pt.lease.Entry != nil }

// health is the state of a handle.
func (w *ward[R]) health(id handle.ID) Health {
	if w.some.Load() == 0 {
		return Healthy
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if pt := w.sick[id]; pt != nil {
		return pt.state
	}
	return Healthy
}

// admit hears what the last call had to say about a resource, and reports whether it
// keeps the lease.
func (w *ward[R]) admit(l registry.Lease[resource[R]], v verdict) bool {
	var bad error
	if v.poison == nil {
		if !v.given || !w.pool.judges {
			return false
		}
		if bad = w.pool.rules.verdict(&v); bad == nil && w.some.Load() == 0 {
			return false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	pt := w.sick[l.ID]
	switch {
	case l.Retired(): // of no interest any more
		w.remove(l.ID)
		return false
	case v.poison != nil:
		pt = w.enter(l.ID, pt)
		w.worse(l.ID, pt, Poisoned, v.poison)
	case bad != nil:
		pt = w.enter(l.ID, pt)
		if pt.bad++; pt.bad >= w.pool.rules.Down || v.left || v.barred {
			w.worse(l.ID, pt, Down, bad)
		} else {
			w.worse(l.ID, pt, Suspect, bad)
		}
	case pt != nil:
		w.well(l.ID)
		return false
	}
	if pt == nil || pt.state == Suspect {
		return false
	}
	if l.Retired() { // after the patient was added: see above
		w.remove(l.ID)
		return false
	}
	w.keep(pt, l)
	w.probeLater(pt, v.left || v.barred)
	return true
}

// poison bars the handle of a resource with shares, for the holder of one. The first one
// who says so counts. As in admit, the patient is added before the look at the gate, so a
// handle that is retired at the same time is seen here or by discharge. mu is not held.
func (w *ward[R]) poison(e *registry.Entry[resource[R]], cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pt := w.enter(e.ID, w.sick[e.ID])
	switch {
	case pt.shared != nil:
	case e.Retired():
		w.remove(e.ID)
	default:
		w.worse(e.ID, pt, Poisoned, cause)
		pt.shared = e
		w.refuse(pt, e)
	}
}

// stuck notes that a call does not end, and that its handle is barred because of it. The
// call may end at the same time: then admit has the last word.
func (w *ward[R]) stuck(id handle.ID, cause error) {
	if !w.pool.judges {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.worse(id, w.enter(id, w.sick[id]), Down, cause)
}

// barStuck bars the handle of a call that does not end. Locks may be held that come
// before those of the ward.
func (p *Pool[R]) barStuck(e *registry.Entry[resource[R]], label string, began time.Time, why error) {
	p.reg.Bar(e, func() error {
		return &ioerr.StuckError{Label: label, Age: time.Since(began), Err: ioerr.ErrHandleBusy}
	})
	if !e.Retired() {
		p.ward.stuck(e.ID, why)
	}
}

// enter makes a patient of what is none. mu is held, as in all that follow unless they
// say otherwise.
func (w *ward[R]) enter(id handle.ID, pt *patient[R]) *patient[R] {
	if pt == nil {
		pt = new(patient[R])
		if w.sick == nil {
			w.sick = make(map[handle.ID]*patient[R])
		}
		w.sick[id] = pt
		w.some.Add(1)
	}
	return pt
}

func (w *ward[R]) remove(id handle.ID) {
	if _, known := w.sick[id]; known {
		delete(w.sick, id)
		w.some.Add(-1)
	}
}

// worse sets the state of a patient; what is poisoned stays so.
func (w *ward[R]) worse(id handle.ID, pt *patient[R], h Health, cause error) {
	was := pt.state
	if was == Poisoned {
		return
	}
	pt.cause = cause
	if pt.state = h; was == h || was == Probing && h == Down {
		return
	}
	pt.since = time.Now()
	w.pool.events.post(Event{Kind: HealthChanged, Call: Call{Handle: id}, Health: h, Err: cause})
}

// well discharges a patient that is healthy.
func (w *ward[R]) well(id handle.ID) {
	w.remove(id)
	w.pool.events.post(Event{Kind: HealthChanged, Call: Call{Handle: id}, Health: Healthy})
}

// keep takes over the lease of a patient and bars its handle.
func (w *ward[R]) keep(pt *patient[R], l registry.Lease[resource[R]]) {
	pt.lease = l
	w.refuse(pt, l.Entry)
}

// refuse bars the handle of a patient.
func (w *ward[R]) refuse(pt *patient[R], e *registry.Entry[resource[R]]) {
	what, since, cause := ioerr.ErrHandleDown, pt.since, pt.cause
	if pt.state == Poisoned {
		what = ioerr.ErrPoisoned
	}
	w.pool.reg.Bar(e, func() error {
		return &ioerr.UnfitError{Err: what, Age: time.Since(since), Cause: cause}
	})
}

// discharge lets go of a handle that was retired. mu is not held.
func (w *ward[R]) discharge(id handle.ID) {
	if w.some.Load() == 0 {
		return
	}
	w.mu.Lock()
	pt := w.sick[id]
	if pt == nil {
		w.mu.Unlock()
		return
	}
	w.remove(id)
	pt.gone = true
	l, free := pt.lease, w.kept(pt) && !pt.probing
	pt.noProbe()
	pt.tellWaiting()
	w.mu.Unlock()
	if free {
		w.release(l)
	}
	if pt.shared != nil {
		w.pool.reg.Unbar(pt.shared) // forgets whom the registry refuses
	}
}

// dischargeAll lets go of everything, for a shutdown. mu is not held.
func (w *ward[R]) dischargeAll() {
	w.mu.Lock()
	var all []handle.ID
	for id := range w.sick {
		all = append(all, id)
	}
	w.mu.Unlock()
	for _, id := range all {
		w.discharge(id)
	}
}

// release gives back a lease that is the ward's no more. mu is not held.
func (w *ward[R]) release(l registry.Lease[resource[R]]) {
	w.pool.reg.Unbar(l.Entry)
	if l.Release() {
		w.pool.bin.discard(l.Entry)
	}
}
