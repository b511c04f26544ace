package fileop_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// direct makes a file with these bytes and opens it for direct I/O, where a file system
// can do that.
func direct(t *testing.T, data []byte, flags int) (*fileop.File, string) {
	t.Helper()
	var refused error
	home, _ := os.UserHomeDir()
	for _, dir := range []string{t.TempDir(), "/var/tmp", home, "."} {
		dir, err := os.MkdirTemp(dir, "direct") //nolint:usetesting // that of the test may be on a file system without
		if err != nil {
			continue
		}
		t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
		path := filepath.Join(dir, "file")
		must(t, os.WriteFile(path, data, 0o600))
		probe := fileop.Op{Kind: fileop.Open, Flags: syscall.O_RDWR | fileop.Direct, More: &fileop.More{Path: path}}
		if probe.Do(t.Context(), nil); probe.Err != nil {
			refused = probe.Err
			continue
		}
		done(t, &fileop.Op{Kind: fileop.Close, File: &fileop.File{FD: uintptr(probe.N)}})
		return open(t, path, flags|fileop.Direct), path
	}
	t.Skip("no directory whose file system does direct I/O:", refused)
	return nil, ""
}

func TestADirectFileIsDescribed(t *testing.T) {
	f, _ := direct(t, nil, syscall.O_RDWR)
	if !f.Direct || !f.Seeks || f.DirectOff < 512 || f.DirectMem < 1 || f.DirectOff&(f.DirectOff-1) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestUnalignedDirectReadsAreThoseOfPackageOS(t *testing.T) {
	data := random(10007)
	f, path := direct(t, data, syscall.O_RDONLY)
	oracle, err := os.Open(path)
	must(t, err)
	defer func() { must(t, oracle.Close()) }()
	for _, off := range []int64{0, 1, 511, 512, 513, 4095, 4096, 4097, 8191, 8192, 9495, 10006, 10007, 10008, 10240, 12288, 20000} {
		for _, size := range []int{0, 1, 7, 511, 512, 513, 4096, 5000, 12288} {
			for _, skip := range []int{0, 1, 512} {
				want, got := make([]byte, size), at(skip, size)
				n, _ := oracle.ReadAt(want, off)
				for _, op := range []*fileop.Op{
					{Kind: fileop.Read, File: f, Off: off, Buf: got},
					{Kind: fileop.Read, File: f, Off: off, Buf: got, Full: true},
					{Kind: fileop.Read, File: f, Off: off, More: &fileop.More{Bufs: pieces(got)}},
					{Kind: fileop.Read, File: f, Off: off, More: &fileop.More{Bufs: pieces(got)}, Full: true},
				} {
					clear(got)
					if done(t, op); op.N != int64(n) || !bytes.Equal(got, want) {
						t.Fatalf("%d bytes at %d: %d, package os %d", size, off, op.N, n)
					}
				}
			}
		}
	}
}

func TestALongUnalignedReadGoesInPieces(t *testing.T) {
	data := random(3<<20 + 123)
	f, _ := direct(t, data, syscall.O_RDONLY)
	got := at(1, len(data))
	op := done(t, &fileop.Op{Kind: fileop.Read, Full: true, File: f, Buf: got[:len(got)-1], Off: 1})
	if op.N != int64(len(data)-1) || !bytes.Equal(got[:op.N], data[1:]) {
		t.Errorf("%d bytes", op.N)
	}
	if op = done(t, &fileop.Op{Kind: fileop.Read, File: f, Buf: got, Off: 1}); op.N != 1<<20-1 {
		t.Errorf("%d bytes of a plain one", op.N)
	}
}

func TestADirectWriteIsRefusedOrDone(t *testing.T) {
	data := random(8192)
	f, path := direct(t, data, syscall.O_RDWR)
	op := fileop.Op{Kind: fileop.Write, Full: true, File: f, Buf: at(0, 100), Off: 0}
	if op.Do(t.Context(), nil); op.Err == nil {
		t.Error("written")
	}
	if _, bad := errors.AsType[*fileop.AlignmentError](op.Err); !bad {
		t.Error(op.Err)
	}
	contents(t, path, data)
	block := at(0, 4096)
	copy(block, data[4096:])
	done(t, &fileop.Op{Kind: fileop.Write, Full: true, File: f, Buf: block, Off: 0})
	contents(t, path, append(bytes.Clone(block), data[4096:]...))
}

// A copy may go through a buffer, which then has to be aligned as well.
func TestDirectFilesAreCopied(t *testing.T) {
	data := random(8192)
	from, _ := direct(t, data, syscall.O_RDONLY)
	to, path := direct(t, nil, syscall.O_RDWR)
	done(t, &fileop.Op{Kind: fileop.CopyRange, Full: true, File: from, Len: 8192, More: &fileop.More{File2: to}})
	contents(t, path, data)
}
