package uring

import (
	"syscall"
	"unsafe"
)

// ask is io_uring_register, again after a signal.
func (r *Ring) ask(code uint32, arg unsafe.Pointer, n uint32) syscall.Errno {
	for range 100 {
		if _, e := r.kernel.register(r.fd, code, arg, n); e != errINTR {
			return e
		}
	}
	return errINTR
}

// register is ask for the methods below. What the kernel refuses there leaves the ring as
// it was: the caller goes on without.
func (r *Ring) register(step string, code uint32, arg unsafe.Pointer, n int) error {
	if err := r.Err(); err != nil {
		return err
	}
	if e := r.ask(code, arg, uint32(n)); e != 0 {
		return failed(step, e)
	}
	return nil
}

// RegisterBuffers makes the kernel look up the pages of the buffers once, not in each
// operation. That pays for large direct transfers. Their memory counts against
// [Info.Memlock]: where that is exceeded the error matches ENOMEM, and the plain reads and
// writes serve as well. The ring keeps the buffers until they are unregistered, or it is
// closed.
func (r *Ring) RegisterBuffers(bufs [][]byte) error {
	if len(bufs) == 0 {
		return failed("register buffers", errINVAL)
	}
	pieces := Pieces(nil, bufs...)
	// The kernel has them as soon as it says so, so they must be kept before.
	before := r.buffers
	r.buffers = append(append([][]byte{}, before...), bufs...)
	if err := r.register("register buffers", registerBuffers, unsafe.Pointer(&pieces[0]), len(pieces)); err != nil {
		r.buffers = before
		return err
	}
	return nil
}

// UnregisterBuffers undoes that. The kernel waits for operations that use them.
func (r *Ring) UnregisterBuffers() error {
	if err := r.register("unregister buffers", unregisterBuffers, nil, 0); err != nil {
		return err
	}
	r.buffers = nil
	return nil
}

// RegisterFiles makes a table of files that operations name by their places in it: see
// [Registered]. A place may be empty: -1.
func (r *Ring) RegisterFiles(fds []int32) error {
	if len(fds) == 0 {
		return failed("register files", errINVAL)
	}
	return r.register("register files", registerFiles, unsafe.Pointer(&fds[0]), len(fds))
}

// LimitWorkers sets how many threads the kernel may have for operations on files
// (bounded), and for those that may wait for ever (unbounded): pipes, terminals, sockets.
// Zero leaves a limit as it is. It returns what they were.
//
// The kernel has a pool of such workers for each thread that submits, and this is the
// limit of each. An owner that is not locked submits from several threads over time, so
// it may have a few times as many, until they have been idle for some seconds.
func (r *Ring) LimitWorkers(bounded, unbounded int) (wasBounded, wasUnbounded int, err error) {
	n := &[2]uint32{uint32(bounded), uint32(unbounded)}
	err = r.register("limit workers", registerIOWQMax, unsafe.Pointer(n), len(n))
	return int(n[0]), int(n[1]), err
}

// registerThread registers the ring's own descriptor with this thread, so that enter need
// not look it up. Where that fails it does.
func (r *Ring) registerThread() {
	u := &filesUpdate{offset: ^uint32(0), data: uint64(r.fd)}
	got, e := r.kernel.register(r.fd, registerRingFDs, unsafe.Pointer(u), 1)
	if e != 0 || got != 1 {
		r.info.Refused = append(r.info.Refused, Refusal{"registered ring", e})
		return
	}
	r.enterFD, r.enterFlags = int(u.offset), enterRegistered
}

// unregisterThread undoes that: a thread has few places.
func (r *Ring) unregisterThread() {
	if r.enterFlags == 0 {
		return
	}
	u := &filesUpdate{offset: uint32(r.enterFD)}
	_, _ = r.kernel.register(r.fd, unregisterRingFDs, unsafe.Pointer(u), 1)
	r.enterFD, r.enterFlags = r.fd, 0
}
