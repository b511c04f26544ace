//go:build linux && (amd64 || 386 || arm64)

package interrupt

import (
	"syscall"
	"unsafe"
)

// block keeps the signal from the calling thread.
func block(number int) {
	mask := bit(number)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigBlock,
		uintptr(unsafe.Pointer(&mask)), 0, unsafe.Sizeof(mask), 0, 0)
}
