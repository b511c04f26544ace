//go:build linux && (amd64 || 386 || arm64)

package interrupt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// Values of the first argument of rt_sigprocmask.
const (
	sigBlock   = 0
	sigUnblock = 1
)

// errStatus: /proc does not say what it should.
var errStatus = errors.New("status of a thread without its signals")

func bit(number int) uint64 { return 1 << (number - 1) }

// gettid returns the number of the calling thread.
func gettid() int {
	tid, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	return int(tid)
}

// tgkill sends the signal to a thread of this process. The kernel refuses with
// ESRCH if there is none of that number, also if another process has one.
func tgkill(tid, number int) error {
	_, _, e := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(tid), uintptr(number))
	if e != 0 {
		return e
	}
	return nil
}

// setMask makes the calling thread block the signal, or let it in, and reports
// whether it was blocked before. A thread starts with what the process was started
// with, or, if C code has started it, with whatever that likes.
func setMask(how, number int) (blocked bool) {
	mask := bit(number)
	var old uint64
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, uintptr(how),
		uintptr(unsafe.Pointer(&mask)), uintptr(unsafe.Pointer(&old)), unsafe.Sizeof(mask), 0, 0)
	return e == 0 && old&bit(number) != 0
}

// pending reports whether the thread has a signal that has not arrived: it is in a
// system call that no signal ends, or blocks it. An error if /proc does not say.
func pending(tid, number int) (bool, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
	if err != nil {
		return false, err
	}
	return maskHas(status, "SigPnd", number)
}

// maskHas reports whether a line of a thread's status, a set of signals, has this one.
func maskHas(status []byte, line string, number int) (bool, error) {
	_, rest, _ := bytes.Cut(status, []byte("\n"+line+":"))
	value, _, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return false, errStatus
	}
	mask, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
	if err != nil {
		return false, errors.Join(errStatus, err)
	}
	return mask&bit(number) != 0, nil
}
