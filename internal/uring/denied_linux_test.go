//go:build amd64 || 386 || arm64

package uring

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// child runs a test of this binary in a child process, told by the environment what to do,
// and returns what it says.
func child(t *testing.T, name, value string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), name+"="+value, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") && !strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%s: %v\n%s", value, err, out)
	}
}

const denyVariable = "IOLANE_URING_DENY"

// deny makes the system call with this number fail in all threads of the process.
func deny(t *testing.T, number int, e syscall.Errno) {
	t.Helper()
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	program := []instruction{
		{0x20, 0, 0, 0},                      // load the number
		{0x15, 0, 1, uint32(number)},         // if it is this one
		{0x06, 0, 0, 0x00050000 | uint32(e)}, // fail with e
		{0x06, 0, 0, 0x7fff0000},             // else go on
	}
	type filter struct {
		len uint16
		p   *instruction
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const prSetNoNewPrivs, seccompSetModeFilter, tsync = 38, 1, 1
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0)
	require.Zero(t, errno)
	f := &filter{uint16(len(program)), &program[0]}
	_, _, errno = syscall.RawSyscall(seccompNumber(), seccompSetModeFilter, tsync, uintptr(unsafe.Pointer(f)))
	if errno != 0 {
		t.Skip("no seccomp filter:", errno)
	}
}

func seccompNumber() uintptr {
	return map[string]uintptr{"amd64": 317, "386": 354, "arm64": 277}[runtime.GOARCH]
}

func TestADeniedRingSaysSo(t *testing.T) {
	what := os.Getenv(denyVariable)
	if what == "" {
		for _, number := range []int{sysSetup, sysEnter, sysRegister} {
			for _, e := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS, syscall.EACCES} {
				child(t, denyVariable, strconv.Itoa(number)+" "+strconv.Itoa(int(e)))
			}
		}
		return
	}
	first, second, _ := strings.Cut(what, " ")
	number, err := strconv.Atoi(first)
	require.NoError(t, err)
	n, err := strconv.Atoi(second)
	require.NoError(t, err)
	e := syscall.Errno(n)
	deny(t, number, e)
	fds := func() int {
		all, _ := os.ReadDir("/proc/self/fd")
		return len(all)
	}
	before := fds()
	r, err := New(Config{})
	if number == sysEnter { // found out when it is first used
		require.NoError(t, err)
		s, _ := r.Take()
		r.Nop(s)
		if err = r.Submit(); !errors.Is(err, ErrRetired) {
			t.Error(err)
		}
		dropped := 0
		r.Reap(func(c Completion) {
			if c.Dropped {
				dropped++
			}
		})
		if dropped != 1 {
			t.Error("not dropped")
		}
		require.NoError(t, r.Close(0, nil))
	} else if r != nil {
		t.Error("a ring")
	}
	if !errors.Is(err, e) || e == syscall.ENOSYS != errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want %v", err, e)
	}
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("%T", err)
	}
	if n := fds(); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}

const memlockVariable = "IOLANE_URING_MEMLOCK"

func TestALimitOnLockedMemoryIsNamedAndLeavesPlainReads(t *testing.T) {
	if os.Getenv(memlockVariable) == "" {
		child(t, memlockVariable, "1")
		return
	}
	require.NoError(t, syscall.Setrlimit(rlimitMemlock, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}))
	if os.Getuid() == 0 { // who may lock as much as he likes
		require.NoError(t, syscall.Setgid(65534))
		require.NoError(t, syscall.Setuid(65534))
	}
	var rings []*Ring
	for len(rings) < 100 { // kernels since about 6.14 count the rings themselves
		r, err := New(Config{})
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Step != "io_uring_setup" || !errors.Is(err, syscall.ENOMEM) {
				t.Error(err)
			}
			break
		}
		rings = append(rings, r)
	}
	if len(rings) == 0 {
		t.Skip("not even one ring") // this user has others
	}
	t.Logf("%d rings, the last one: %v", len(rings), rings[len(rings)-1].Info())
	r := rings[0]
	if r.Info().Memlock != 64<<10 {
		t.Error(r.Info().Memlock)
	}
	err := r.RegisterBuffers([][]byte{make([]byte, 1<<20)})
	if e, ok := errors.AsType[*Error](err); !ok || e.Step != "register buffers" || !errors.Is(err, syscall.ENOMEM) {
		t.Error(err)
	}
	zero, err := os.Open("/dev/zero")
	require.NoError(t, err)
	if n := one(t, r, func(s Slot) { r.Read(s, FD(zero.Fd()), make([]byte, 1<<20), 0) }); n <= 0 {
		t.Error("a plain read:", n)
	}
	for _, r := range rings {
		require.NoError(t, r.Close(-1, nil))
	}
}
