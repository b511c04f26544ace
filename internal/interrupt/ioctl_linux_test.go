//go:build linux && (amd64 || 386 || arm64)

package interrupt_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// What asm/unistd.h and linux/seccomp.h say.
const (
	prSetNoNewPrivs      = 38
	seccompSetModeFilter = 1
	seccompNewListener   = 1 << 3
	seccompUserNotif     = 0x7fc00000
	seccompAllow         = 0x7fff0000
	seccompNotifRecv     = 0xc0502100 // _IOWR('!', 0, 80 bytes)
)

// seccompCall is the number of seccomp(2), which package syscall does not have.
func seccompCall() uintptr {
	switch runtime.GOARCH {
	case "amd64":
		return 317
	case "386":
		return 354
	default:
		return 277
	}
}

// listener is a descriptor on which an ioctl waits for a thread of this process to make a
// certain system call, which it never does. Such a thread must be there: it is one of its own,
// which ends with the test. It takes no privilege.
func listener(t *testing.T) uintptr {
	t.Helper()
	if emulated() {
		t.Skip("an emulator has no seccomp")
	}
	type answer struct {
		fd  uintptr
		err syscall.Errno
	}
	answers, stop, gone := make(chan answer), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); e != 0 {
			answers <- answer{err: e}
			return
		}
		filter := []syscall.SockFilter{
			{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, K: 0}, // the number of the call
			{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: syscall.SYS_ACCT, Jf: 1},
			{Code: syscall.BPF_RET | syscall.BPF_K, K: seccompUserNotif},
			{Code: syscall.BPF_RET | syscall.BPF_K, K: seccompAllow},
		}
		program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		fd, _, e := syscall.RawSyscall(seccompCall(), seccompSetModeFilter, seccompNewListener, uintptr(unsafe.Pointer(&program)))
		runtime.KeepAlive(filter)
		answers <- answer{fd, e}
		if e == 0 {
			<-stop
		}
	}()
	a := <-answers
	t.Cleanup(func() {
		close(stop)
		<-gone
		if a.err == 0 {
			must(t, syscall.Close(int(a.fd)))
		}
	})
	if a.err != 0 {
		t.Skip("no listener of seccomp here: ", a.err)
	}
	return a.fd
}

// waitForNotice is an ioctl that waits.
func waitForNotice(c *interrupt.Call, listener uintptr) error {
	_, err := rawio.Do(c, func() (int, error) {
		var notice [80]byte // must be zero
		n, _, e := syscall.Syscall(syscall.SYS_IOCTL, listener, seccompNotifRecv, uintptr(unsafe.Pointer(&notice)))
		if e != 0 {
			return 0, e
		}
		return int(n), nil
	})
	return err
}

// An ioctl that waits is a call like any other: it is interrupted wherever it is met.
func TestAnIoctlThatWaitsIsInterrupted(t *testing.T) {
	fd := listener(t)
	s := taken(t)
	interruptAll(t, s, rounds(), func(c *interrupt.Call) error { return waitForNotice(c, fd) })

	var set interrupt.Set
	var wg sync.WaitGroup
	for range 20 { // many at the same descriptor
		wg.Go(func() {
			c := interrupt.NewCall(s)
			set.Add(c)
			defer set.Remove(c)
			if err := waitForNotice(c, fd); !errors.Is(err, interrupt.ErrInterrupted) {
				t.Error(err)
			}
		})
	}
	dawdle()
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	defer cancel()
	must(t, set.Interrupt(ctx))
	wg.Wait()
}
