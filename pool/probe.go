package pool

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// probeLater decides when a patient is to be probed, if ever: what is poisoned is not.
func (w *ward[R]) probeLater(pt *patient[R], now bool) {
	d := w.pool.rules.Probe
	switch {
	case pt.state == Poisoned:
		return
	case now:
		d = 0
	case d < math.MaxInt64/2: // else it makes no difference
		d = d/2 + rand.N(d)
	}
	pt.due = time.Now().Add(d)
	w.setProbe(pt)
}

// setProbe sets the timer for that.
func (w *ward[R]) setProbe(pt *patient[R]) {
	if pt.state == Poisoned {
		return
	}
	pt.turn++
	turn := pt.turn
	pt.timer = time.AfterFunc(time.Until(pt.due), func() { w.probe(pt, turn) })
}

// noProbe undoes setProbe.
func (pt *patient[R]) noProbe() {
	pt.turn++
	if pt.timer != nil {
		pt.timer.Stop()
	}
}

// probe is the goroutine of a patient's timer.
func (w *ward[R]) probe(pt *patient[R], turn uint64) {
	l, ok := w.beginProbe(pt, turn)
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
		switch slow := w.pool.rules.Slow; {
		case hangs: // the resource is in its hands
			w.pool.hookFailed(err)
			return
		case err == nil && slow > 0 && took > slow:
			err = &ioerr.SlowError{Took: took, Limit: slow}
		}
		w.endProbe(pt, l, err)
	}, func() {
		w.endProbe(pt, l, &ioerr.HookError{Hook: "check", Handle: l.ID, Err: ioerr.ErrHookTimeout})
	})
}

// beginProbe returns the lease of a patient that is to be probed. Without a hook for that
// it lets the patient go, on probation.
func (w *ward[R]) beginProbe(pt *patient[R], turn uint64) (l registry.Lease[resource[R]], ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pt.turn != turn { // it came late
		return l, false
	}
	l = pt.lease
	if w.check != nil {
		pt.state, pt.probing = Probing, true
		return l, true
	}
	pt.lease = registry.Lease[resource[R]]{}
	pt.bad = w.pool.rules.Down - 1
	w.worse(l.ID, pt, Suspect, pt.cause)
	return l, true
}

// endProbe decides after a probe. mu is not held.
func (w *ward[R]) endProbe(pt *patient[R], l registry.Lease[resource[R]], err error) {
	if w.letsGo(pt, l, err) {
		w.release(l)
	}
}

func (w *ward[R]) letsGo(pt *patient[R], l registry.Lease[resource[R]], err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	pt.probing = false
	pt.tellWaiting()
	if !pt.gone && err != nil {
		w.worse(l.ID, pt, Down, err)
		w.keep(pt, l)
		w.probeLater(pt, false)
		return false
	}
	pt.lease = registry.Lease[resource[R]]{}
	if !pt.gone {
		w.well(l.ID)
	}
	return true
}
