//go:build amd64 || 386 || arm64

package pool_test

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// denyRing makes io_uring_setup fail with EPERM in all threads of the process, as many
// containers do.
func denyRing() {
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	const setup = 425
	program := []instruction{
		{0x20, 0, 0, 0},     // load the number
		{0x15, 0, 1, setup}, // if it is this one
		{0x06, 0, 0, 0x00050000 | uint32(syscall.EPERM)}, // fail
		{0x06, 0, 0, 0x7fff0000},                         // else go on
	}
	type filter struct {
		len uint16
		p   *instruction
	}
	runtime.LockOSThread()
	const noNewPrivs, modeFilter, allThreads = 38, 1, 1
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivs, 1, 0, 0, 0, 0)
	f := &filter{uint16(len(program)), &program[0]}
	seccomp := map[string]uintptr{"amd64": 317, "386": 354, "arm64": 277}[runtime.GOARCH]
	if e == 0 {
		_, _, e = syscall.RawSyscall(seccomp, modeFilter, allThreads, uintptr(unsafe.Pointer(f)))
	}
	runtime.UnlockOSThread()
	if e != 0 {
		fmt.Fprintln(os.Stderr, "no seccomp filter:", e)
		os.Exit(1)
	}
}
