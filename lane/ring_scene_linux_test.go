package lane_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// ring returns a lane with a ring, closed at the end of the test.
func ring(t *testing.T, c lane.RingConfig) *lane.Ring {
	t.Helper()
	c.Required = true
	l, err := lane.NewRing(c)
	if _, denied := errors.AsType[*ioerr.RingError](err); denied {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		shut(t, l)
		addUp(t, l.Stats())
	})
	return l
}

// slots is a config with so many places for operations, and so many threads.
func slots(operations, threads int) lane.RingConfig {
	return lane.RingConfig{Config: lane.Config{Workers: operations}, Threads: threads}
}

// operate has an operation done that must not be refused.
func operate(t testing.TB, l *lane.Ring, op *lane.Op) {
	t.Helper()
	require.NoError(t, l.Operate(context.Background(), lane.Call{}, op))
}

// openFile is a file with the given content.
func openFile(t testing.TB, content string, flags int) *fileop.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	return &fileop.File{Name: path, FD: uintptr(fd), Seeks: true}
}

// openPipe is a pipe whose ends block.
func openPipe(t testing.TB) (r, w *fileop.File) {
	t.Helper()
	var fds [2]int
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC))
	t.Cleanup(func() {
		_ = syscall.Close(fds[0])
		_ = syscall.Close(fds[1])
	})
	return &fileop.File{FD: uintptr(fds[0])}, &fileop.File{FD: uintptr(fds[1])}
}

func readOp(f *fileop.File, n int, off int64) *lane.Op {
	return &lane.Op{Kind: fileop.Read, File: f, Buf: make([]byte, n), Off: off}
}

func writeOp(f *fileop.File, s string, off int64) *lane.Op {
	return &lane.Op{Kind: fileop.Write, File: f, Buf: []byte(s), Off: off}
}

// feed writes to a pipe, not by the lane.
func feed(t testing.TB, w *fileop.File, s string) {
	t.Helper()
	n, err := syscall.Write(int(w.FD), []byte(s))
	require.NoError(t, err)
	require.Len(t, s, n)
}

// came compares what came of an operation.
func came(t testing.TB, op *lane.Op, n int64, err error) {
	t.Helper()
	if op.N != n || !errors.Is(op.Err, err) {
		t.Errorf("%v: %d, %v; want %d, %v", op.Kind, op.N, op.Err, n, err)
	}
}

// eventually waits for a state of the lane.
func eventually(t testing.TB, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(end), "the state that was waited for does not come")
	}
}

// refusing makes the ring say of such operations that it does not do them.
func refusing(c lane.RingConfig, which func(op *lane.Op) bool) lane.RingConfig {
	return c.WithDriver(ringdriver.Config{Tamper: func(op *lane.Op, res int32) int32 {
		if which(op) {
			return -int32(syscall.EINVAL)
		}
		return res
	}})
}

// events are what a lane reports.
type events struct {
	mu  sync.Mutex
	all []lane.EventKind
}

func (e *events) note(ev lane.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev.Kind)
}

func (e *events) count(k lane.EventKind) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.all {
		if one == k {
			n++
		}
	}
	return n
}

// again runs the test in a process of its own, told by the environment what to do.
func again(t *testing.T, name, value string) {
	t.Helper()
	top, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+top+"$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), name+"="+value, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") && !strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%s: %v\n%s", value, err, out)
	}
}
