//go:build amd64 || 386 || arm64

package lane_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// setupNumber is that of io_uring_setup, on all architectures of the build tag.
const setupNumber = 425

// deny makes io_uring_setup fail in all threads of the process.
func deny(t *testing.T, e syscall.Errno) {
	t.Helper()
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	program := []instruction{
		{0x20, 0, 0, 0},                      // load the number
		{0x15, 0, 1, setupNumber},            // if it is this one
		{0x06, 0, 0, 0x00050000 | uint32(e)}, // fail with e
		{0x06, 0, 0, 0x7fff0000},             // else go on
	}
	type filter struct {
		len uint16
		p   *instruction
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const prSetNoNewPrivs, setModeFilter, tsync = 38, 1, 1
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0)
	require.Zero(t, errno)
	f := &filter{uint16(len(program)), &program[0]}
	seccomp := map[string]uintptr{"amd64": 317, "386": 354, "arm64": 277}[runtime.GOARCH]
	_, _, errno = syscall.RawSyscall(seccomp, setModeFilter, tsync, uintptr(unsafe.Pointer(f)))
	if errno != 0 {
		t.Skip("no seccomp filter:", errno)
	}
}

const denyVar = "IOLANE_LANE_DENY"

// Law: whatever the system says when it denies a ring, the lane works on threads and tells
// so once; only who requires a ring gets an error.
func TestADeniedRingIsNoFaultOfTheLane(t *testing.T) {
	what := os.Getenv(denyVar)
	if what == "" {
		for _, e := range []syscall.Errno{
			syscall.EPERM, syscall.ENOSYS, syscall.EACCES, syscall.EOPNOTSUPP,
			syscall.EINVAL, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE,
		} {
			again(t, denyVar, strconv.Itoa(int(e)))
		}
		return
	}
	n, err := strconv.Atoi(what)
	require.NoError(t, err)
	e := syscall.Errno(n)
	deny(t, e)

	var told events
	l, err := lane.NewRing(lane.RingConfig{Config: lane.Config{Name: "disk", Workers: 4, OnEvent: told.note}, Threads: 2, Rings: 3})
	require.NoError(t, err)
	wantDenied(t, l, e)
	program(t, l)
	require.ErrorAs(t, l.RegisterBuffers(newSlab(t)), new(*ioerr.RingError))
	require.NoError(t, l.Fiber(context.Background(), lane.Call{}, func(ctx context.Context) { programIn(ctx, t, l) }))
	s := l.Stats()
	require.Zero(t, s.Ring.Served+s.Ring.Cached+s.Ring.Fallback)
	require.NotZero(t, s.Ring.Threads)
	addUp(t, s)
	shut(t, l)
	eventually(t, func() bool { return told.count(lane.Degraded) == 1 })
	require.Len(t, told.all, 1+told.count(lane.Busy)+told.count(lane.Idle))

	l, err = lane.NewRing(lane.RingConfig{Config: lane.Config{Name: "disk"}, Required: true})
	require.Nil(t, l)
	wantRingError(t, err, e)
}

func wantDenied(t *testing.T, l *lane.Ring, e syscall.Errno) {
	t.Helper()
	s := l.Stats().Ring
	require.Zero(t, s.Rings)
	wantRingError(t, s.Reason, e)
	require.Zero(t, l.Capabilities().Native)
}

func wantRingError(t *testing.T, err error, e syscall.Errno) {
	t.Helper()
	denied, ok := errors.AsType[*ioerr.RingError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "disk", denied.Lane)
	require.ErrorIs(t, err, e)
}

const memlockVar = "IOLANE_LANE_MEMLOCK"

// Law: a hundred lanes of a user who may lock 64 KiB of memory all work, with a ring or without.
func TestAHundredLanesOfAUserWhoMayLockLittleMemory(t *testing.T) {
	if os.Getenv(memlockVar) == "" {
		again(t, memlockVar, "1")
		return
	}
	const rlimitMemlock = 8
	require.NoError(t, syscall.Setrlimit(rlimitMemlock, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}))
	if os.Getuid() == 0 {
		require.NoError(t, syscall.Setgid(65534))
		require.NoError(t, syscall.Setuid(65534))
	}
	rings := 0
	var lanes []*lane.Ring
	for range 100 {
		l, err := lane.NewRing(slots(8, 1))
		require.NoError(t, err)
		lanes = append(lanes, l)
		rings += l.Stats().Ring.Rings
		if reason := l.Stats().Ring.Reason; reason != nil {
			require.ErrorIs(t, reason, syscall.ENOMEM)
		}
	}
	t.Log(rings, "rings")
	for _, l := range lanes {
		r, w := openPipe(t)
		op := writeOp(w, "data", -1)
		operate(t, l, op)
		came(t, op, 4, nil)
		op = readOp(r, 4, -1)
		operate(t, l, op)
		came(t, op, 4, nil)
	}
	for _, l := range lanes {
		shut(t, l)
	}
}
