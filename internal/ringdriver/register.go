package ringdriver

import (
	"errors"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/uring"
)

var (
	// ErrRegistered: there is memory registered already.
	ErrRegistered = errors.New("another slab is registered")
	// ErrEnded: the driver has ended.
	ErrEnded = errors.New("the driver has ended")
)

// Register makes the kernel look up the pages of a slab once, instead of in each
// operation. The error is ErrRegistered, ErrEnded, or the kernel's: above all ENOMEM, where the limit
// on locked memory is small. The ring goes on as before then. The memory must not be given
// back before Unregister has returned.
func (d *Driver) Register(s *fileop.Slab) (err error) {
	ran := d.do(func() {
		switch {
		case d.slab != nil || d.dropped:
			err = ErrRegistered
		case !d.has(uring.OpReadFixed) || !d.has(uring.OpWriteFixed):
			err = errors.ErrUnsupported
		default:
			if err = d.ring.RegisterBuffers(s.Parts()); err == nil {
				d.slab = s
			}
		}
	})
	if !ran {
		return ErrEnded
	}
	return err
}

// Unregister undoes Register. Operations that are using the memory go on: the kernel has its pages
// until they have ended, whatever becomes of the memory.
func (d *Driver) Unregister(s *fileop.Slab) {
	d.do(func() {
		if d.slab != s {
			return
		}
		d.slab, d.dropped = nil, true
		if d.fixed == 0 { // else a kernel before 6.15 would wait for them, and the driver with it
			d.unregister()
		}
	})
}

func (d *Driver) unregister() {
	d.dropped = false
	_ = d.ring.UnregisterBuffers() // a ring out of use holds nothing that matters
}

// unplace is for an operation that does not use registered memory any more.
func (d *Driver) unplace() {
	if d.fixed--; d.fixed == 0 && d.dropped {
		d.unregister()
	}
}

// do has a function run on the driver, and waits for it. It reports false when the driver has
// ended without.
func (d *Driver) do(fn func()) (ran bool) {
	done := make(chan struct{})
	d.send(&message{kind: errand, fn: func() { fn(); close(done) }})
	select {
	case <-done:
		return true
	case <-d.ended:
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// place is that of registered memory in which the whole of the buffer of an operation lies, which
// uses it from now on.
func (d *Driver) place(s uring.Slot, buf []byte) (place int, ok bool) {
	if d.slab == nil {
		return 0, false
	}
	if place, ok = d.slab.Contains(buf); ok {
		d.table[s.Index()].fixed = true
		d.fixed++
	}
	return place, ok
}
