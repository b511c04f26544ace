package pool

import (
	"math/rand/v2"
	"time"

	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// probeLater has a patient probed when it is time; what is poisoned is not probed.
func (w *ward[R]) probeLater(pt *patient[R]) {
	w.probeIn(pt, w.rules.Probe/2+rand.N(w.rules.Probe+1))
}

func (w *ward[R]) probeIn(pt *patient[R], d time.Duration) {
	if pt.state != Poisoned {
		pt.timer = time.AfterFunc(d, func() { w.probe(pt) })
	}
}

// probe is the goroutine of a patient's timer.
func (w *ward[R]) probe(pt *patient[R]) {
	l, ok := w.beginProbe(pt)
	switch {
	case !ok:
		return
	case w.check == nil:
		w.release(l)
		return
	}
	var took time.Duration
	w.pool.hooks.perform("check", l.ID, func() error {
		began := time.Now()
		defer func() { took = time.Since(began) }()
		return w.check(l.Resource.value)
	}, func(err error, hangs bool) {
		switch slow := w.rules.Slow; {
		case hangs: // the resource is in its hands
			w.pool.hookFailed(err)
			return
		case err == nil && slow > 0 && took > slow:
			err = &SlowError{Took: took, Limit: slow}
		}
		w.endProbe(pt, l, err)
	}, func() {
		w.endProbe(pt, l, &ioerr.HookError{Hook: "check", Handle: l.ID, Err: ioerr.ErrHookTimeout})
	})
}

// beginProbe returns the lease of a patient that is to be probed. Without a hook for that
// it lets the patient go, on probation.
func (w *ward[R]) beginProbe(pt *patient[R]) (l registry.Lease[resource[R]], ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pt.gone || !w.kept(pt) {
		return l, false
	}
	l = pt.lease
	if w.check != nil {
		pt.state, pt.probe = Probing, make(chan struct{})
		return l, true
	}
	pt.lease = registry.Lease[resource[R]]{}
	pt.bad = w.rules.Down - 1
	w.worse(l.ID, pt, Suspect, pt.cause)
	return l, true
}

// endProbe decides after a probe. mu is not held.
func (w *ward[R]) endProbe(pt *patient[R], l registry.Lease[resource[R]], err error) {
	w.mu.Lock()
	close(pt.probe)
	pt.probe = nil
	switch {
	case pt.gone:
	case err == nil:
		w.well(l.ID)
	default:
		w.worse(l.ID, pt, Down, err)
		w.keep(pt, l)
		w.probeLater(pt)
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	w.release(l)
}
