package pool

import (
	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
)

// How Replace gets at a resource in the ward, which is cured by that.

// take takes the lease of a handle out of the ward, for Replace; the handle stays
// barred. Without a lease there, ok is false. If a probe has it, wait is closed when that
// has ended or the handle is retired, whichever is first. mu is not held.
func (w *ward[R]) take(id handle.ID) (l registry.Lease[resource[R]], ok bool, wait <-chan struct{}) {
	if w.some.Load() == 0 {
		return l, false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch pt := w.sick[id]; {
	case pt == nil || !w.kept(pt):
		return l, false, nil
	case pt.probing:
		if pt.waiting == nil {
			pt.waiting = make(chan struct{})
		}
		return l, false, pt.waiting
	default:
		l, pt.lease = pt.lease, l
		pt.noProbe()
		return l, true, nil
	}
}

// tellWaiting tells Replace to look again.
func (pt *patient[R]) tellWaiting() {
	if pt.waiting != nil {
		close(pt.waiting)
		pt.waiting = nil
	}
}

// giveBack ends what take began. mu is not held.
func (w *ward[R]) giveBack(l registry.Lease[resource[R]], cured bool) {
	w.mu.Lock()
	pt := w.sick[l.ID]
	switch {
	case pt == nil: // it was retired meanwhile
	case cured:
		w.well(l.ID)
	case l.Retired():
		w.remove(l.ID)
	default:
		w.keep(pt, l)
		w.setProbe(pt)
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	w.release(l)
}

// forgive forgets what was held against a resource that was replaced. mu is not held.
func (w *ward[R]) forgive(id handle.ID) {
	if w.some.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sick[id] != nil {
		w.well(id)
	}
}
