//go:build amd64 || 386 || arm64

package uring

import (
	"syscall"
	"unsafe"
)

// Operations that a ring has no methods for, since its owners leave them to threads. They
// wait as no other does: an open for a worker of the kernel, a poll for whatever there may be.

func openat(r *Ring, s Slot, path string, flags int, mode uint32) {
	const opOpenat, atFDCWD = 18, -100
	b := append([]byte(path), 0)
	p := unsafe.Pointer(&b[0])
	r.weight += heavy
	_, e := r.describe(s, p)
	e.set(opOpenat, atFDCWD, 0, address(p), mode, uint32(flags)|syscall.O_CLOEXEC, s)
}

func poll(r *Ring, s Slot, fd FD, events uint32) {
	const opPollAdd = 6
	_, e := r.describe(s, nil)
	e.set(opPollAdd, int32(fd), 0, 0, 0, events, s)
}
