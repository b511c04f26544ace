package rawio_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tempFile(t testing.TB) uintptr {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	fd, err := rawio.Open(nil, path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	must(t, err)
	t.Cleanup(func() { _ = rawio.Close(fd) })
	return fd
}

func TestTheOperationsOfAFile(t *testing.T) {
	for name, c := range map[string]*interrupt.Call{"nobody": nil, "a call": interrupt.NewCall(nil)} {
		fd := tempFile(t)
		if n, err := rawio.Write(c, fd, []byte("hello")); n != 5 || err != nil {
			t.Errorf("%s: Write: %d, %v", name, n, err)
		}
		if n, err := rawio.Pwrite(c, fd, []byte("J"), 0); n != 1 || err != nil {
			t.Errorf("%s: Pwrite: %d, %v", name, n, err)
		}
		p := make([]byte, 10)
		if n, err := rawio.Pread(c, fd, p, 0); string(p[:n]) != "Jello" || err != nil {
			t.Errorf("%s: Pread: %q, %v", name, p[:n], err)
		}
		if n, err := rawio.Pread(c, fd, p, 5); n != 0 || err != nil {
			t.Errorf("%s: Pread at the end: %d, %v", name, n, err)
		}
		if n, err := rawio.Read(c, fd, p); n != 0 || err != nil {
			if runtime.GOOS != "windows" { // Pread moves the offset there
				t.Errorf("%s: Read at the end: %d, %v", name, n, err)
			}
		}
		must(t, rawio.Fsync(c, fd))
		must(t, rawio.Fdatasync(c, fd))
		if err := rawio.Flock(c, fd, 2); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: Flock: %v", name, err)
		}
		must(t, rawio.Close(fd))
		if err := rawio.Close(fd); err == nil {
			t.Errorf("%s: closed twice", name)
		}
	}
}

func TestErrorsAreThoseOfTheSystem(t *testing.T) {
	_, err := rawio.Open(nil, filepath.Join(t.TempDir(), "none"), syscall.O_RDONLY, 0)
	var errno syscall.Errno
	if !errors.As(err, &errno) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%#v", err)
	}
	fd := tempFile(t)
	must(t, rawio.Close(fd))
	for name, op := range map[string]func() (int, error){
		"Read":   func() (int, error) { return rawio.Read(nil, fd, make([]byte, 1)) },
		"Write":  func() (int, error) { return rawio.Write(nil, fd, make([]byte, 1)) },
		"Pread":  func() (int, error) { return rawio.Pread(nil, fd, make([]byte, 1), 0) },
		"Pwrite": func() (int, error) { return rawio.Pwrite(nil, fd, make([]byte, 1), 0) },
	} {
		if n, err := op(); n != 0 || err == nil {
			t.Errorf("%s of a closed file: %d, %v", name, n, err)
		}
	}
}

func TestAskedOperationsDoNothing(t *testing.T) {
	fd := tempFile(t)
	c := interrupt.NewCall(nil)
	c.Ask()
	one := make([]byte, 1)
	for name, op := range map[string]func() error{
		"Open":      func() error { _, err := rawio.Open(c, "/", syscall.O_RDONLY, 0); return err },
		"Read":      func() error { _, err := rawio.Read(c, fd, one); return err },
		"Write":     func() error { _, err := rawio.Write(c, fd, one); return err },
		"Pread":     func() error { _, err := rawio.Pread(c, fd, one, 0); return err },
		"Pwrite":    func() error { _, err := rawio.Pwrite(c, fd, one, 0); return err },
		"Fsync":     func() error { return rawio.Fsync(c, fd) },
		"Fdatasync": func() error { return rawio.Fdatasync(c, fd) },
		"Flock":     func() error { return rawio.Flock(c, fd, 2) },
		"Nanosleep": func() error { return rawio.Nanosleep(c, time.Hour) },
	} {
		if err := op(); !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNanosleepSleeps(t *testing.T) {
	for _, d := range []time.Duration{-time.Hour, 0, time.Millisecond} {
		start := time.Now()
		must(t, rawio.Nanosleep(nil, d))
		if slept := time.Since(start); slept < d {
			t.Errorf("%v instead of %v", slept, d)
		}
	}
}
