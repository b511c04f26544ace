package uring

import "time"

// sweep is the cancellation of everything, at Close.
type sweep struct {
	running bool
	unknown bool // the kernel can only cancel one by one
}

const (
	// sweepFirst is how long to wait for what was cancelled before all is cancelled once
	// more: an operation can be on its way from one place of the kernel to another, and
	// then it is not found. Each later time is twice as long, up to sweepLast.
	sweepFirst = time.Millisecond
	sweepLast  = 100 * time.Millisecond
)

// Close ends the ring: it takes no more operations, cancels what is in flight, waits for
// all of it, and then unmaps and closes. done gets what completes meanwhile, as from Reap;
// it may be nil.
//
// If that takes longer than the timeout (a negative one never does) or the kernel
// cannot be waited for, nothing is given back: neither the ring nor the memory that its
// operations hold. The error is a *LeftError then, and Close may be called again. A ring
// that is closed can be closed once more: nil.
func (r *Ring) Close(timeout time.Duration, done func(Completion)) error {
	if r.state == stateClosed {
		return nil
	}
	if r.state != stateClosing {
		r.state = stateClosing
		r.drop()
	}
	now := r.kernel.now()
	end, next, pause := now+timeout, now, sweepFirst
	for {
		r.Reap(done)
		if r.busy == 0 {
			break
		}
		now = r.kernel.now()
		if timeout >= 0 && now >= end && pause > sweepFirst { // cancelled once at least
			return &LeftError{InFlight: r.Busy(), Cause: r.cause}
		}
		if now >= next {
			r.sweepAll()
			next = now + pause
			pause = min(pause*2, sweepLast)
		}
		rest := next - now
		if timeout >= 0 {
			rest = max(min(rest, end-now), 0)
		}
		if err := r.enter(All, 1, rest); err != nil {
			return &LeftError{InFlight: r.Busy(), Cause: r.cause}
		}
	}
	r.undo()
	r.state = stateClosed
	letGo(r)
	return nil
}

// sweepAll describes the cancellation of everything that is in flight. What is described
// at this moment are cancellations only: the rest was dropped.
func (r *Ring) sweepAll() {
	if r.Filled() > 0 {
		return // the kernel has put the last ones off
	}
	if !r.sweep.unknown {
		if r.sweep.running {
			return
		}
		r.sweep.running = true
		index := r.sweepSlot()
		r.slots[index].state = busySlot
		r.busy++
		r.owed++
		r.sq.next().set(OpAsyncCancel, -1, 0, 0, 0, cancelAny|cancelAll, r.name(index))
		return
	}
	for i := range r.slots {
		if o := &r.slots[i]; o.state != busySlot || o.cancelling || o.done {
			continue
		}
		if r.Filled() == r.info.Entries || r.cancel(uint32(i)) == NotNow {
			return // the next time
		}
	}
}

// swept settles the cancellation of everything.
func (r *Ring) swept(c Completion) {
	r.sweep.running = false
	// Before 5.19 these flags are EINVAL.
	r.sweep.unknown = c.Res == -int32(errINVAL)
}
