package uring

import (
	"syscall"
	"time"
	"unsafe"
)

// kernel is the system calls that a ring makes, so that tests can let any of them fail,
// and be a kernel whose every step they decide. The method of Linux that is called once
// for many operations is enter; the price of an interface is nothing beside that of a
// system call.
type kernel interface {
	setup(entries uint32, p *params) (fd int, e syscall.Errno)
	mmap(fd int, offset int64, size int) ([]byte, syscall.Errno)
	munmap(m []byte)
	// enter with quick set must not be told to wait: the runtime is not informed, so
	// that the thread keeps its processor meanwhile.
	enter(fd int, submit, wait, flags uint32, arg *extArg, quick bool) (n int, e syscall.Errno)
	register(fd int, code uint32, arg unsafe.Pointer, n uint32) (got int, e syscall.Errno)
	close(fd int)

	eventfd() (fd int, e syscall.Errno)
	// wake adds one to the eventfd; read by an operation of the ring.
	wake(fd int)

	// memlock is how many bytes this process may lock.
	memlock() uint64
	// now reads the monotonic clock, which is that of timeouts.
	now() time.Duration
	sleep(d time.Duration)
}
