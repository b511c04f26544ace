package ringdriver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

var bg = context.Background()

// rounds is n, or many in a stress run (IOLANE_STRESS=1), which takes minutes.
func rounds(n, many int) int {
	if os.Getenv("IOLANE_STRESS") != "" {
		return many
	}
	return n
}

// newDriver returns a driver that is closed at the end of the test.
func newDriver(t testing.TB, c Config) *Driver {
	t.Helper()
	d, err := New(c)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { shut(t, d) })
	return d
}

func shut(t testing.TB, d *Driver) {
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	if err := d.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// asOwner runs fn as the owner of the ring: it may look at all of the driver.
func asOwner(t testing.TB, d *Driver, fn func()) {
	t.Helper()
	for done := false; !done; {
		d.Run(bg, nil, func(ctx context.Context) {
			if f := On(ctx); d.lend(f) {
				fn()
				done = true
			}
		})
	}
}

// until waits for a state of the driver.
func until(t testing.TB, d *Driver, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		ok := false
		asOwner(t, d, func() { ok = cond() })
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the driver does not come to the state that was waited for")
		}
	}
}

// flying waits until n operations are in flight.
func flying(t testing.TB, d *Driver, n int) {
	t.Helper()
	until(t, d, func() bool { return d.inFlight == n && d.ring.Filled() == 0 })
}

// pipe is one whose ends block.
type pipe struct {
	t    testing.TB
	r, w int
	file *fileop.File // to read from
}

func newPipe(t testing.TB) *pipe {
	t.Helper()
	var fds [2]int
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC))
	p := &pipe{t, fds[0], fds[1], &fileop.File{FD: uintptr(fds[0])}}
	t.Cleanup(p.close)
	return p
}

func (p *pipe) close() {
	for _, fd := range []*int{&p.r, &p.w} {
		if *fd >= 0 {
			_ = syscall.Close(*fd)
			*fd = -1
		}
	}
}

func (p *pipe) write(s string) {
	p.t.Helper()
	if n, err := syscall.Write(p.w, []byte(s)); n != len(s) || err != nil {
		p.t.Error("write to a pipe:", n, err)
	}
}

// left is what is in the pipe still.
func (p *pipe) left() string {
	p.t.Helper()
	if p.w >= 0 {
		_ = syscall.Close(p.w)
		p.w = -1
	}
	var all []byte
	buf := make([]byte, 4096)
	for {
		n, err := syscall.Read(p.r, buf)
		if err != nil {
			p.t.Error("read from a pipe:", err)
		}
		if n <= 0 {
			return string(all)
		}
		all = append(all, buf[:n]...)
	}
}

// read is an operation that reads up to n bytes from the pipe.
func (p *pipe) read(n int) *fileop.Op {
	return &fileop.Op{Kind: fileop.Read, File: p.file, Buf: make([]byte, n), Off: fileop.AtPosition}
}

// gate is a read of one byte that ends when the gate is opened.
type gate struct {
	*pipe
	op *fileop.Op
}

func newGate(t testing.TB) gate {
	p := newPipe(t)
	return gate{p, p.read(1)}
}

func (g gate) open() { g.write("x") }

// file is one with the given content.
func file(t testing.TB, content []byte) *fileop.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return &fileop.File{FD: f.Fd(), Seeks: true}
}

// pattern is n bytes, each of which tells where it is.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8*7 ^ i>>16*31)
	}
	return b
}

func nop() *fileop.Op { return &fileop.Op{} }

func sleep(d time.Duration) *fileop.Op { return &fileop.Op{Kind: fileop.Sleep, Off: int64(d)} }

// want compares what came of an operation.
func want(t testing.TB, op *fileop.Op, n int64, err error) {
	t.Helper()
	if op.N != n || !errors.Is(op.Err, err) {
		t.Errorf("%v: %d, %v; want %d, %v", op.Kind, op.N, op.Err, n, err)
	}
}

// descriptors is how many the process has open.
func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

// ringsOpen is the descriptors of all rings of the process.
func ringsOpen(t testing.TB) []int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var fds []int
	for _, e := range all {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(to, "io_uring") {
			fd, err := strconv.Atoi(e.Name())
			require.NoError(t, err)
			fds = append(fds, fd)
		}
	}
	return fds
}

// breakRing makes the kernel say EBADF to the only ring of the process, as a whole: its
// number becomes that of a descriptor with which nothing can be done. (A number that was
// closed could become somebody else's.)
func breakRing(t testing.TB) {
	t.Helper()
	fds := ringsOpen(t)
	require.Len(t, fds, 1)
	const oPath = 0x200000
	useless, err := syscall.Open("/", oPath|syscall.O_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Dup3(useless, fds[0], syscall.O_CLOEXEC))
	require.NoError(t, syscall.Close(useless))
}

// drops are slots of which there are no more.
type drops func()

func (drops) Grow(int) int { return 0 }

func (drops) Wanted() bool { return false }

func (d drops) Drop() {
	if d != nil {
		d()
	}
}
