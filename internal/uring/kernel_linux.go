//go:build linux && (amd64 || 386 || arm64)

package uring

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Numbers of the system calls, the same on all architectures.
const (
	sysSetup    = 425
	sysEnter    = 426
	sysRegister = 427
)

type linux struct{}

func system() (kernel, error) { return linux{}, nil }

func (linux) setup(entries uint32, p *params) (int, syscall.Errno) {
	fd, _, e := syscall.Syscall(sysSetup, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
	return int(fd), e
}

func (linux) mmap(fd int, offset int64, size int) ([]byte, syscall.Errno) {
	m, err := syscall.Mmap(fd, offset, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	e, _ := err.(syscall.Errno) //nolint:errorlint // package syscall returns it bare
	return m, e
}

func (linux) munmap(m []byte) { _ = syscall.Munmap(m) }

func (linux) enter(fd int, submit, wait, flags uint32, arg *extArg, quick bool) (int, syscall.Errno) {
	var size uintptr
	if arg != nil {
		size = unsafe.Sizeof(*arg)
	}
	if quick {
		n, _, e := syscall.RawSyscall6(sysEnter, uintptr(fd), uintptr(submit), uintptr(wait), uintptr(flags), uintptr(unsafe.Pointer(arg)), size)
		return int(n), e
	}
	n, _, e := syscall.Syscall6(sysEnter, uintptr(fd), uintptr(submit), uintptr(wait), uintptr(flags), uintptr(unsafe.Pointer(arg)), size)
	return int(n), e
}

func (linux) register(fd int, code uint32, arg unsafe.Pointer, n uint32) (int, syscall.Errno) {
	got, _, e := syscall.Syscall6(sysRegister, uintptr(fd), uintptr(code), uintptr(arg), uintptr(n), 0, 0)
	return int(got), e
}

func (linux) close(fd int) { _ = syscall.Close(fd) }

func (linux) eventfd() (int, syscall.Errno) {
	// Not O_NONBLOCK: a read in the ring would then not wait. Writing never blocks.
	fd, _, e := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC, 0)
	return int(fd), e
}

func (linux) wake(fd int) {
	one := uint64(1)
	for {
		if _, _, e := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8); e != errINTR {
			return
		}
	}
}

func (linux) memlock() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(rlimitMemlock, &limit) != nil {
		return 0
	}
	return limit.Cur
}

const rlimitMemlock = 8

func (linux) now() time.Duration {
	const monotonic = 1 // the vDSO is not needed for what happens so rarely
	var ts syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&ts)), 0)
	runtime.KeepAlive(&ts)
	return time.Duration(ts.Nano())
}

func (linux) sleep(d time.Duration) { time.Sleep(d) }
