package fileop_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/fileop"
)

// oracles compare what an operation does with what package os does or sees.
func oracles() map[fileop.Kind]func(t *testing.T) {
	return map[fileop.Kind]func(t *testing.T){
		fileop.Nop:       func(t *testing.T) { done(t, &fileop.Op{}) },
		fileop.Open:      opens,
		fileop.Close:     closes,
		fileop.Read:      reads,
		fileop.Write:     writes,
		fileop.Fsync:     func(t *testing.T) { syncs(t, fileop.Fsync) },
		fileop.Fdatasync: func(t *testing.T) { syncs(t, fileop.Fdatasync) },
		fileop.Fallocate: allocates,
		fileop.Truncate:  truncates,
		fileop.Stat:      stats,
		fileop.Rename:    names,
		fileop.Unlink:    names,
		fileop.Rmdir:     names,
		fileop.Mkdir:     names,
		fileop.Advise:    advises,
		fileop.Flock:     locks,
		fileop.RangeLock: locks,
		fileop.CopyRange: copies,
		fileop.Sleep:     sleeps,
		fileop.Data:      data,
		fileop.Chmod:     describes,
		fileop.Times:     describes,
	}
}

func TestEveryKindDoesWhatPackageOSDoes(t *testing.T) {
	all := oracles()
	for kind := range fileop.Kinds {
		if all[kind] == nil {
			t.Errorf("kind %d has no oracle", kind)
			continue
		}
		all[kind](t)
	}
}

func contents(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%q in the file, want %q", got, want)
	}
}

func opens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	op := fileop.Op{Kind: fileop.Open, Flags: syscall.O_RDWR, More: &fileop.More{Path: path}}
	op.Do(t.Context(), nil)
	if !errors.Is(op.Err, fs.ErrNotExist) {
		t.Errorf("open of nothing: %v", op.Err)
	}
	f := open(t, path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL)
	if !f.Seeks || f.Direct {
		t.Errorf("a new file seeks %v, direct %v", f.Seeks, f.Direct)
	}
	contents(t, path, nil)
}

func closes(t *testing.T) {
	op := done(t, &fileop.Op{Kind: fileop.Open, More: &fileop.More{Path: fileOf(t, nil)}})
	f := &fileop.File{FD: uintptr(op.N)}
	done(t, &fileop.Op{Kind: fileop.Close, File: f})
	again := fileop.Op{Kind: fileop.Close, File: f}
	again.Do(t.Context(), nil)
	if again.Err == nil {
		t.Error("closed twice")
	}
}

func reads(t *testing.T) {
	data := random(10000)
	path := fileOf(t, data)
	oracle, err := os.Open(path)
	must(t, err)
	defer func() { must(t, oracle.Close()) }()
	f := open(t, path, syscall.O_RDONLY)
	for _, off := range []int64{0, 1, 9990, 9999, 10000, 20000} {
		for _, size := range []int{0, 1, 20, 10000} {
			want, got := make([]byte, size), make([]byte, size)
			n, _ := oracle.ReadAt(want, off)
			for _, op := range []*fileop.Op{
				{Kind: fileop.Read, File: f, Off: off, Buf: got},
				{Kind: fileop.Read, File: f, Off: off, Buf: got, Full: true},
				{Kind: fileop.Read, File: f, Off: off, More: &fileop.More{Bufs: pieces(got)}},
				{Kind: fileop.Read, File: f, Off: off, More: &fileop.More{Bufs: pieces(got)}, Full: true},
			} {
				clear(got)
				if done(t, op); op.N != int64(n) || !bytes.Equal(got, want) {
					t.Errorf("%d bytes at %d: %d, package os %d", size, off, op.N, n)
				}
			}
		}
	}
	if runtime.GOOS != "windows" { // where a read at an offset moves the position
		got := make([]byte, 3)
		for i := range 3 {
			done(t, &fileop.Op{Kind: fileop.Read, File: f, Off: fileop.AtPosition, Full: true, Buf: got})
			if !bytes.Equal(got, data[3*i:3*i+3]) {
				t.Errorf("at the file's position: %x", got)
			}
		}
	}
}

func writes(t *testing.T) {
	path := fileOf(t, []byte("0123456789"))
	f := open(t, path, syscall.O_RDWR)
	w := func(op fileop.Op, want string, n int64) {
		op.Kind, op.File = fileop.Write, f
		if done(t, &op); op.N != n {
			t.Errorf("%d written, want %d", op.N, n)
		}
		contents(t, path, []byte(want))
	}
	w(fileop.Op{Buf: []byte("ab"), Off: 8}, "01234567ab", 2)
	w(fileop.Op{Buf: []byte("cd"), Off: 9, Full: true}, "01234567acd", 2)
	w(fileop.Op{More: &fileop.More{Bufs: [][]byte{{}, []byte("x"), []byte("yz")}}, Off: 1, Full: true}, "0xyz4567acd", 3)
	if runtime.GOOS == "linux" || runtime.GOOS == "windows" {
		w(fileop.Op{Buf: []byte("!!"), Append: true, Full: true}, "0xyz4567acd!!", 2)
		w(fileop.Op{More: &fileop.More{Bufs: [][]byte{[]byte("?"), []byte("?")}}, Append: true, Full: true}, "0xyz4567acd!!??", 2)
	}
	f = open(t, path, syscall.O_RDWR|syscall.O_APPEND)
	must(t, os.Truncate(path, 2))
	w(fileop.Op{Buf: []byte("end"), Append: true}, "0xend", 3)
}

func syncs(t *testing.T, kind fileop.Kind) {
	done(t, &fileop.Op{Kind: kind, File: open(t, fileOf(t, []byte("x")), syscall.O_RDWR)})
}

func allocates(t *testing.T) {
	path := fileOf(t, []byte("x"))
	op := fileop.Op{Kind: fileop.Fallocate, File: open(t, path, syscall.O_RDWR), Off: 100, Len: 5000}
	op.Do(t.Context(), nil)
	if errors.Is(op.Err, errors.ErrUnsupported) {
		t.Log("no fallocate:", op.Err)
		return
	}
	info, err := os.Stat(path)
	must(t, err)
	if op.Err != nil || info.Size() != 5100 {
		t.Errorf("%v, %d bytes", op.Err, info.Size())
	}
}

func truncates(t *testing.T) {
	path := fileOf(t, []byte("12345"))
	f := open(t, path, syscall.O_RDWR)
	done(t, &fileop.Op{Kind: fileop.Truncate, File: f, Len: 2})
	contents(t, path, []byte("12"))
	done(t, &fileop.Op{Kind: fileop.Truncate, File: f, Len: 4})
	contents(t, path, []byte("12\x00\x00"))
}

func same(t *testing.T, got fileop.Info, want fs.FileInfo) {
	t.Helper()
	if got.Mode != want.Mode() || !got.ModTime.Equal(want.ModTime()) || !want.IsDir() && got.Size != want.Size() {
		t.Errorf("%s: %+v, package os %v %v %d", want.Name(), got, want.Mode(), want.ModTime(), want.Size())
	}
}

func stats(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must(t, os.WriteFile(path, []byte("12345"), 0o640))
	paths := []string{dir, path}
	if runtime.GOOS != "windows" {
		link := filepath.Join(dir, "link")
		must(t, os.Symlink(path, link))
		must(t, os.Chmod(path, 0o640|fs.ModeSetuid))
		paths = append(paths, link, os.DevNull)
	}
	for _, p := range paths {
		for _, flags := range []int32{0, fileop.NoFollow} {
			how := os.Stat
			if flags != 0 {
				how = os.Lstat
			}
			want, err := how(p)
			must(t, err)
			op := done(t, &fileop.Op{Kind: fileop.Stat, Flags: flags, More: &fileop.More{Path: p}})
			same(t, op.More.Info, want)
		}
	}
	want, err := os.Stat(path)
	must(t, err)
	op := done(t, &fileop.Op{Kind: fileop.Stat, File: open(t, path, syscall.O_RDONLY), More: new(fileop.More)})
	same(t, op.More.Info, want)
	if i := op.More.Info; i.Inode == 0 || i.Links != 1 {
		t.Errorf("%+v", i)
	}
}

func names(t *testing.T) {
	dir := t.TempDir()
	a, b, sub := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "sub")
	must(t, os.WriteFile(a, []byte("a"), 0o600))
	must(t, os.WriteFile(b, []byte("b"), 0o600))
	done(t, &fileop.Op{Kind: fileop.Rename, More: &fileop.More{Path: a, Path2: b}})
	contents(t, b, []byte("a"))
	done(t, &fileop.Op{Kind: fileop.Unlink, More: &fileop.More{Path: b}})
	done(t, &fileop.Op{Kind: fileop.Mkdir, Mode: 0o700, More: &fileop.More{Path: sub}})
	if info, err := os.Stat(sub); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	again := fileop.Op{Kind: fileop.Mkdir, Mode: 0o700, More: &fileop.More{Path: sub}}
	if again.Do(t.Context(), nil); !errors.Is(again.Err, fs.ErrExist) {
		t.Errorf("made twice: %v", again.Err)
	}
	done(t, &fileop.Op{Kind: fileop.Rmdir, More: &fileop.More{Path: sub}})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v left, %v", left, err)
	}
}

func advises(t *testing.T) {
	done(t, &fileop.Op{Kind: fileop.Advise, File: open(t, fileOf(t, nil), syscall.O_RDONLY), Flags: 1, Off: 0, Len: 1 << 33})
}

func copies(t *testing.T) {
	data := random(300000)
	for _, off := range []int64{0, 5, 299999, 300000} {
		for _, size := range []int64{0, 1, 1000, 400000} {
			from, path := open(t, fileOf(t, data), syscall.O_RDONLY), fileOf(t, []byte("0123456789"))
			to := open(t, path, syscall.O_RDWR)
			op := done(t, &fileop.Op{
				Kind: fileop.CopyRange, Full: true, File: from, Off: off, Len: size,
				More: &fileop.More{File2: to, Off2: 3},
			})
			want := []byte("0123456789")
			part := data[off:min(off+size, int64(len(data)))]
			copy(want[3:], part)
			want = append(want, part[min(7, len(part)):]...)
			if op.N != int64(len(part)) {
				t.Errorf("%d bytes at %d: %d copied", size, off, op.N)
			}
			contents(t, path, want)
		}
	}
}

func data(t *testing.T) {
	f := open(t, fileOf(t, random(100)), syscall.O_RDWR)
	for off, want := range map[int64][2]int64{0: {0, 100}, 7: {7, 100}, 100: {100, 100}, 999: {999, 999}} {
		op := done(t, &fileop.Op{Kind: fileop.Data, File: f, Off: off, More: new(fileop.More)})
		if got := [2]int64{op.N, op.More.Off2}; got != want {
			t.Errorf("at %d: %v, want %v", off, got, want)
		}
	}
}

func describes(t *testing.T) {
	path := fileOf(t, nil)
	f, then := open(t, path, syscall.O_RDWR), time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	done(t, &fileop.Op{Kind: fileop.Times, File: f, More: &fileop.More{Modified: then}})
	done(t, &fileop.Op{Kind: fileop.Chmod, File: f, Mode: 0o444})
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o444 || !info.ModTime().Equal(then) {
		t.Errorf("%v %v", info.Mode(), info.ModTime())
	}
	must(t, os.Chmod(path, 0o600)) // some systems remove no other
}

func sleeps(t *testing.T) {
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		op, start := fileop.Op{Kind: fileop.Sleep, Off: int64(time.Millisecond)}, time.Now()
		if op.Do(ctx, nil); op.Err != nil || time.Since(start) < time.Millisecond {
			t.Errorf("%v after %v", op.Err, time.Since(start))
		}
	}
}
