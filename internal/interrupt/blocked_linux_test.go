//go:build linux && (amd64 || 386 || arm64)

package interrupt_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// blockers are system calls that never return by themselves.
var blockers = []struct {
	name  string
	setUp func(t *testing.T) func(c *interrupt.Call) error
}{
	{"read of a pipe", func(t *testing.T) func(*interrupt.Call) error {
		r, _ := pipe(t)
		return func(c *interrupt.Call) error {
			_, err := rawio.Read(c, r, make([]byte, 1))
			return err
		}
	}},
	{"write to a full pipe", func(t *testing.T) func(*interrupt.Call) error {
		_, w := pipe(t)
		fill(t, w)
		return func(c *interrupt.Call) error {
			_, err := rawio.Write(c, w, make([]byte, 1))
			return err
		}
	}},
	{"open of a FIFO", func(t *testing.T) func(*interrupt.Call) error {
		path := filepath.Join(t.TempDir(), "fifo")
		must(t, syscall.Mkfifo(path, 0o600))
		return func(c *interrupt.Call) error {
			fd, err := rawio.Open(c, path, syscall.O_RDONLY, 0)
			if err == nil {
				return fmt.Errorf("opened, descriptor %d", fd)
			}
			return err
		}
	}},
	{"flock held by another process", func(t *testing.T) func(*interrupt.Call) error {
		path := filepath.Join(t.TempDir(), "lock")
		heldByChild(t, path)
		fd, err := rawio.Open(nil, path, syscall.O_RDWR, 0)
		must(t, err)
		t.Cleanup(func() { must(t, rawio.Close(fd)) })
		return func(c *interrupt.Call) error { return rawio.Flock(c, fd, syscall.LOCK_EX) }
	}},
	{"nanosleep", func(*testing.T) func(*interrupt.Call) error {
		return func(c *interrupt.Call) error { return rawio.Nanosleep(c, time.Hour) }
	}},
	{"accept", func(t *testing.T) func(*interrupt.Call) error {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		must(t, err)
		t.Cleanup(func() { must(t, syscall.Close(fd)) })
		must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: "@" + t.TempDir()}))
		must(t, syscall.Listen(fd, 1))
		return func(c *interrupt.Call) error {
			_, err := rawio.Do(c, func() (int, error) {
				conn, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC)
				return conn, err
			})
			return err
		}
	}},
	{"poll", func(t *testing.T) func(*interrupt.Call) error {
		r, _ := pipe(t)
		return func(c *interrupt.Call) error {
			_, err := rawio.Do(c, func() (int, error) { return poll(r) })
			return err
		}
	}},
}

// poll waits until fd is readable; package os would not let it block.
func poll(fd uintptr) (int, error) {
	p := struct {
		fd              int32
		events, revents int16
	}{fd: int32(fd), events: 1}
	n, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, 0, 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func pipe(t testing.TB) (r, w uintptr) {
	t.Helper()
	var p [2]int
	must(t, syscall.Pipe2(p[:], syscall.O_CLOEXEC))
	t.Cleanup(func() {
		for _, fd := range p {
			must(t, syscall.Close(fd))
		}
	})
	return uintptr(p[0]), uintptr(p[1])
}

// fill writes to the pipe until there is no room for another byte.
func fill(t *testing.T, w uintptr) {
	t.Helper()
	must(t, syscall.SetNonblock(int(w), true))
	for size := 1 << 16; size > 0; {
		if _, err := syscall.Write(int(w), make([]byte, size)); err != nil {
			size /= 2
		}
	}
	must(t, syscall.SetNonblock(int(w), false))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// emulated reports whether an emulator of the processor, and of system calls, runs
// this program.
func emulated() bool {
	comm, err := os.ReadFile("/proc/self/comm")
	return err == nil && bytes.HasPrefix(comm, []byte("qemu-"))
}

// heldByChild has another process lock the file until the test ends.
func heldByChild(t *testing.T, path string) {
	t.Helper()
	if emulated() {
		// An emulator does not run what its program starts, if it survives that at
		// all. A lock of another open file of this process is in the way just as well.
		fd, err := rawio.Open(nil, path, syscall.O_RDWR|syscall.O_CREAT, 0o600)
		must(t, err)
		t.Cleanup(func() { must(t, rawio.Close(fd)) })
		must(t, rawio.Flock(nil, fd, syscall.LOCK_EX))
		return
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holdEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	must(t, err)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	t.Cleanup(func() {
		must(t, in.Close())
		must(t, child.Wait())
	})
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal("the child does not hold the lock:", err)
	}
}
