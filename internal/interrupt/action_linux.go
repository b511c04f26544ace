//go:build linux && (amd64 || 386 || arm64)

package interrupt

import (
	"syscall"
	"unsafe"
)

// sigaction is the kernel's struct of that name, the same on the three
// architectures up to the size of a word.
type sigaction struct {
	handler  uintptr
	flags    uintptr
	restorer uintptr
	mask     uint64
}

// Values of sigaction.handler that are no address.
const (
	byDefault = 0
	ignored   = 1
)

// Values of sigaction.flags.
const (
	saSiginfo  = 0x00000004
	saRestorer = 0x04000000
	saOnStack  = 0x08000000
	saRestart  = 0x10000000
)

// handler returns to where it was called from, and restorer from there to where
// the signal came upon the thread. They touch no register and no stack, so that
// they may run on any thread at any time, also one that runs C code. Only the
// kernel may call them.
//
//lint:ignore U1000 its address is taken in assembly
func handler()

//lint:ignore U1000 its address is taken in assembly
func restorer()

// entries returns the addresses of handler and restorer; the latter is 0 where the
// kernel brings one.
func entries() (handler, restorer uintptr)

// ownAction is the disposition that interrupts system calls: no SA_RESTART.
// SA_ONSTACK as everything in a Go process, where stacks are small.
func ownAction() sigaction {
	h, r := entries()
	a := sigaction{handler: h, flags: saSiginfo | saOnStack, restorer: r, mask: ^uint64(0)}
	if r != 0 {
		a.flags |= saRestorer
	}
	return a
}

// ours reports whether a system call that the signal meets ends with EINTR.
func (a sigaction) ours() bool {
	h, _ := entries()
	return a.handler == h && a.flags&saRestart == 0
}

func getAction(number int) (old sigaction, err error) {
	return rtSigaction(number, nil)
}

// setAction returns what was in place until now.
func setAction(number int, a sigaction) (old sigaction, err error) {
	return rtSigaction(number, &a)
}

func rtSigaction(number int, a *sigaction) (old sigaction, err error) {
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(number),
		uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(&old)), unsafe.Sizeof(old.mask), 0, 0)
	if e != 0 {
		return sigaction{}, e
	}
	return old, nil
}
