package ringdriver

import (
	"time"

	"github.com/iolane/iolane/internal/uring"
)

// Why a cancellation is made again. The kernel looks for an operation in several places: among
// those that wait for a worker or are with one, those that wait to be polled, and timers. What is
// on its way from one to the next is not found (ENOENT). What is with a worker (EALREADY) is
// told by a signal, which ends a sleep; but a worker that finds nothing to read hands the operation
// on to be polled, signal or not, and there it waits, for ever maybe. In either case the
// kernel says what it says also of what is about to end: so there is nothing to go by but
// whether it ends. One on a disk cannot be stopped, and is asked less and less often.
const (
	insistFirst = time.Millisecond
	insistLast  = 100 * time.Millisecond
)

// abandon calls off a request that has begun.
func (d *Driver) abandon(r *request) {
	r.calledOff = true
	d.calledOff = append(d.calledOff, use{req: r, turn: r.at})
	if r.rest() > 0 {
		d.pending.add(r) // what is not described yet ends there
	}
}

// callOff has the kernel cancel what was called off. What does not fit in now will after
// the next completion of a cancellation, which is in flight then.
func (d *Driver) callOff() {
	if len(d.calledOff) == 0 && (len(d.insisted) == 0 || time.Now().Before(d.due)) {
		return
	}
	now := time.Now()
	all := d.calledOff
	d.calledOff = nil
	if !now.Before(d.due) {
		all, d.insisted = append(all, d.insisted...), nil
	}
	for _, u := range all {
		switch {
		case u.req.at != u.turn: // it has ended
		case now.Before(u.due):
			d.insist(u)
		case !d.cancelAll(u.req):
			d.calledOff = append(d.calledOff, u)
		default:
			u.pause = min(max(2*u.pause, insistFirst), insistLast)
			u.due = now.Add(u.pause)
			d.insist(u)
		}
	}
}

// insist notes what is to be cancelled once more, if it does not end.
func (d *Driver) insist(u use) {
	if len(d.insisted) == 0 || u.due.Before(d.due) {
		d.due = u.due
	}
	d.insisted = append(d.insisted, u)
}

// patience is how long the driver may sleep, as in uring.Ring.Enter.
func (d *Driver) patience() time.Duration {
	if len(d.insisted) == 0 || d.ring.Err() != nil {
		return -1
	}
	return max(time.Until(d.due), time.Microsecond)
}

// cancelAll cancels what is in flight of a request. It reports false if something is left.
func (d *Driver) cancelAll(r *request) bool {
	if r.total() == 1 {
		return r.flying == 0 || d.cancel(d.table[r.last].slot)
	}
	for i := range d.table {
		if f := &d.table[i]; f.req == r && !d.cancel(f.slot) {
			return false
		}
	}
	return true
}

func (d *Driver) cancel(s uring.Slot) bool {
	if d.ring.Cancel(s) != uring.NotNow || d.ring.Err() != nil {
		return true
	}
	d.enter(uring.All, 0, 0) // perhaps it is only the queue that is full
	return d.ring.Cancel(s) != uring.NotNow
}
