package rawio_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

func TestAskedOperationsOnNamesAndRangesDoNothing(t *testing.T) {
	fd := tempFile(t)
	dir := t.TempDir()
	name, other := filepath.Join(dir, "name"), filepath.Join(dir, "other")
	must(t, os.WriteFile(name, nil, 0o600))
	c := interrupt.NewCall(nil)
	c.Ask()
	one := [][]byte{{1}}
	for what, op := range map[string]func() error{
		"Preadv":        func() error { _, err := rawio.Preadv(c, fd, one, 0); return err },
		"Pwritev":       func() error { _, err := rawio.Pwritev(c, fd, one, 0); return err },
		"Append":        func() error { _, err := rawio.Append(c, fd, one); return err },
		"CopyFileRange": func() error { _, err := rawio.CopyFileRange(c, fd, 0, fd, 100, 1); return err },
		"Truncate":      func() error { return rawio.Truncate(c, fd, 100) },
		"Fallocate":     func() error { return rawio.Fallocate(c, fd, 0, 0, 100) },
		"Advise":        func() error { return rawio.Advise(c, fd, 0, 0, 0) },
		"LockRange":     func() error { return rawio.LockRange(c, fd, rawio.LockExclusive, 0, 0) },
		"Fstat":         func() error { _, err := rawio.Fstat(c, fd); return err },
		"Stat":          func() error { _, err := rawio.Stat(c, name, false); return err },
		"Rename":        func() error { return rawio.Rename(c, name, other) },
		"Unlink":        func() error { return rawio.Unlink(c, name) },
		"Rmdir":         func() error { return rawio.Rmdir(c, dir) },
		"Mkdir":         func() error { return rawio.Mkdir(c, other, 0o700) },
	} {
		if err := op(); !errors.Is(err, interrupt.ErrInterrupted) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if info, err := rawio.Fstat(nil, fd); err != nil || info.Size != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "name" {
		t.Errorf("%v, %v", left, err)
	}
}

// More buffers than the kernel takes at a time make a short transfer, not an error.
func TestAnyNumberOfBuffers(t *testing.T) {
	for _, buffers := range []int{0, 1, 16, 17, 1024, 1025, 3000} {
		fd := tempFile(t)
		data, bufs := make([]byte, 2*buffers), [][]byte{{}}
		for i := range buffers {
			data[2*i], data[2*i+1] = byte(i), byte(i>>8)
			bufs = append(bufs, data[2*i:2*i+2], nil)
		}
		n, err := rawio.Pwritev(nil, fd, bufs, 1<<33)
		if err != nil || n != 2*buffers && n != 2*1024 {
			t.Errorf("%d buffers: %d, %v", buffers, n, err)
			continue
		}
		clear(data[n:])
		want := bytes.Clone(data)
		clear(data)
		if m, err := rawio.Preadv(nil, fd, bufs, 1<<33); m != n || err != nil || !bytes.Equal(data, want) {
			t.Errorf("%d buffers: %d read, %v", buffers, m, err)
		}
	}
}

func TestAnAppendDoesNotMindThePosition(t *testing.T) {
	fd := tempFile(t)
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		t.Skip("only of a file that is open with O_APPEND")
	}
	for _, word := range []string{"ab", "cd"} {
		if n, err := rawio.Append(nil, fd, [][]byte{nil, []byte(word)}); n != 2 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	p := make([]byte, 5)
	if n, err := rawio.Pread(nil, fd, p, 0); string(p[:n]) != "abcd" || err != nil {
		t.Errorf("%q, %v", p[:n], err)
	}
}

func TestTheModesOfPackageFSAreThoseOfTheSystem(t *testing.T) {
	for _, mode := range []os.FileMode{
		0o600, 0o777, os.ModeSetuid | 0o700, os.ModeSetgid | 0o70, os.ModeSticky | 0o7,
	} {
		path := filepath.Join(t.TempDir(), "dir")
		must(t, rawio.Mkdir(nil, path, 0o700))
		must(t, os.Chmod(path, mode))
		want, err := os.Stat(path)
		must(t, err)
		got, err := rawio.Stat(nil, path, false)
		if err != nil || got.Mode != want.Mode() {
			t.Errorf("%v, %v, package os %v", got.Mode, err, want.Mode())
		}
		must(t, os.Chmod(path, 0o700))
	}
	if runtime.GOOS != "windows" && rawio.Mode(os.ModeSetuid|os.ModeSetgid|os.ModeSticky|0o777) != 0o7777 {
		t.Error("a bit is missing")
	}
}

func TestTheSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open := func(path string) uintptr {
		fd, err := rawio.Open(nil, path, syscall.O_RDWR|syscall.O_CREAT, 0o600)
		must(t, err)
		t.Cleanup(func() { must(t, rawio.Close(fd)) })
		return fd
	}
	a, b := open(path), open(path)
	if other := tempFile(t); !rawio.SameFile(a, a) || !rawio.SameFile(a, b) || rawio.SameFile(a, other) {
		t.Error("taken for what they are not")
	}
}
