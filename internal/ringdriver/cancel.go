package ringdriver

import "github.com/iolane/iolane/internal/uring"

// abandon calls off a request that has begun.
func (d *Driver) abandon(r *request) {
	r.calledOff = true
	d.calledOff = append(d.calledOff, use{r, r.at})
	if r.rest() > 0 {
		d.pending.add(r) // what is not described yet ends there
	}
}

// callOff has the kernel cancel what was called off. What does not fit in now will after
// the next completion of a cancellation, which is in flight then.
func (d *Driver) callOff() {
	all := d.calledOff
	d.calledOff = nil
	for _, u := range all {
		if u.req.at == u.turn && !d.cancelAll(u.req) {
			d.calledOff = append(d.calledOff, u)
		}
	}
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
