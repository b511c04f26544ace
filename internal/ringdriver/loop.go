package ringdriver

import (
	"slices"
	"time"

	"github.com/iolane/iolane/internal/uring"
)

const (
	// chunk is how many operations are handed to the kernel at a time: a device begins
	// with them while the next ones are prepared.
	chunk = 8
	// stretch is how long a driver goes on without a pause. A goroutine that does nothing
	// but system calls looks to the runtime's monitor, after 10 ms, like one that hangs;
	// its processor is then taken away at every call.
	stretch = 4 * time.Millisecond
	// lookout is how long a driver waits in a ring that is out of use.
	lookout = 5 * time.Millisecond
	// closing is how long the end of a ring may take in which nothing is in flight.
	closing = 5 * time.Second
	// soon is how much longer than its context allows Close waits for an end that takes
	// microseconds unless something is wrong.
	soon = time.Second
)

// drive is the goroutine of a driver.
func (d *Driver) drive(gen uint64) {
	var at *Fiber // that it has switched to
	defer func() {
		if at != nil { // it has ended the goroutine
			if d.back(at, gen) {
				d.helpers.Go(func() { d.drive(gen) })
			}
		}
	}()
	d.breath = time.Now()
	for {
		d.breathe()
		d.open()
		for last := len(d.ready); d.next < last; { // what becomes ready meanwhile has its turn after the others
			at = d.ready[d.next]
			d.ready[d.next] = nil
			d.next++
			if at.aside > 0 {
				d.helpers.Go(at.runAside)
				at = nil
				continue
			}
			d.enterFiber(at, gen)
			at.resume()
			f := at
			at = nil
			if !d.back(f, gen) {
				return
			}
		}
		d.ready, d.next = slices.Delete(d.ready, 0, d.next), 0
		d.describeAll()
		d.callOff()
		d.wake()
		if !d.rest() {
			return
		}
		d.ring.Reap(d.reaped)
		d.wake()
		if d.woken > 0 {
			d.woken = 0
			d.yielder.yield()
		}
	}
}

// breathe lets others run from time to time: see stretch. Not by runtime.Gosched: where all
// processors are busy that takes as long as others like.
func (d *Driver) breathe() {
	if now := time.Now(); now.Sub(d.breath) > stretch {
		d.yielder.yield()
		d.breath = time.Now()
	}
}

// open reads the messages.
func (d *Driver) open() {
	for m := d.inbox.take(); m != nil; {
		next := m.next
		m.next = nil
		switch m.kind {
		case begin:
			d.begins(m.req)
		case cancel:
			if m.req.early = m.turn; m.turn == m.req.at {
				d.abandon(m.req)
			}
		case start:
			m.fiber.create()
			d.ripen(m.fiber)
		case wake:
			d.ripen(m.fiber)
		case end:
			f := m.fiber
			f.ended = true
			if f.req.at != 0 && f.req.bound {
				d.abandon(&f.req)
			}
		case errand:
			m.fn()
		case stop:
			d.stopping = true
		}
		m = next
	}
}

// rest hands over what is described, and sleeps until there is something to do. It reports
// false when the driver has come to its end.
func (d *Driver) rest() bool {
	busy := len(d.ready) > 0
	if d.inFlight == 0 && !busy && d.ring.Filled() == 0 {
		d.insisted = nil
		if d.stopping {
			d.finish()
			return false
		}
		if d.inbox.rest(&d.inbox.idle) {
			<-d.inbox.roused
		}
		return true
	}
	if !busy && !d.ring.Ready() && d.inbox.rest(&d.inbox.asleep) {
		d.enter(uring.All, 1, d.patience())
		d.inbox.rise(&d.inbox.asleep)
		return true
	}
	d.enter(uring.All, 0, 0)
	return true
}

// enter enters the kernel. When that has gone wrong the ring takes nothing any more; what
// is in flight is waited for.
func (d *Driver) enter(submit, wait int, timeout time.Duration) {
	d.count.enters.Add(1)
	d.fresh = 0
	err := d.ring.Enter(submit, wait, timeout)
	if err == nil || d.ring.Err() == nil {
		return
	}
	if d.down.CompareAndSwap(nil, &err) && d.onDown != nil {
		d.helpers.Go(func() { d.onDown(err) })
	}
	// From now on nobody can wake the driver in there, so it looks for messages by itself.
	if wait > 0 && d.ring.Enter(0, wait, lookout) != nil {
		time.Sleep(lookout) // not even that works: what completes is seen all the same
	}
}

// finish closes the ring. One that is out of use may not be able to cancel what waits to be
// woken: so that is woken, and looked after as long as it may take.
func (d *Driver) finish() {
	d.yielder.end()
	d.left = d.ring.Close(d.closing, nil)
	for last := time.Now().Add(d.closing); d.left != nil && time.Now().Before(last); d.left = d.ring.Close(0, nil) {
		d.ring.Wake()
		time.Sleep(lookout)
	}
	close(d.ended)
}
