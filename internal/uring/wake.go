package uring

import (
	"sync"
	"syscall"
	"unsafe"
)

// wakeup is an eventfd and, while the owner waits in Enter, an operation that reads it.
type wakeup struct {
	buf   *[8]byte // in the heap, and by itself: the slot points to it
	armed bool

	// One place of the submission queue is set aside for this operation: so the owner
	// never waits without it. It is in use from describing to the kernel's taking it.
	filled bool
	place  uint32

	mu sync.RWMutex // a writer of fd reads it under this: whoever closes it waits for them
	fd int          // -1: none
}

// Wake ends the wait of the owner in Enter, or the next one if he does not wait. Any number of
// calls before that end one wait. Anybody may call it, at any time; it reports false if
// the ring is closed.
//
// It is a system call, so call it only if the owner may be waiting.
func (r *Ring) Wake() bool {
	w := &r.wakeup
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.fd < 0 {
		return false
	}
	r.kernel.wake(w.fd)
	return true
}

// armWake describes the operation that ends when Wake is called. The place for it is free: the
// last one has completed, so the kernel had taken it, and advance has seen that.
func (r *Ring) armWake() {
	if r.wakeup.armed || r.wakeup.fd < 0 {
		return
	}
	r.wakeup.armed, r.wakeup.filled = true, true
	r.wakeup.place = r.sq.filled
	index := r.wakeSlot()
	r.slots[index].state = takenSlot
	r.Read(r.name(index), FD(r.wakeup.fd), r.wakeup.buf[:], -1)
}

// woken settles that operation.
func (r *Ring) woken(c Completion) {
	r.wakeup.armed = false
	switch {
	case c.Res == int32(unsafe.Sizeof(*r.wakeup.buf)):
		r.stats.Wakeups++
	case c.Res >= 0, c.Res == -int32(errCANCELED), c.Res == -int32(errINTR), c.Res == -int32(errAGAIN), c.Res == -int32(errFAULT):
		// Its thread has ended, or it was cancelled: the next wait arms it again.
	default:
		// A wait that cannot be ended would hang somebody one day.
		r.retire("wake", syscall.Errno(-c.Res))
	}
}
