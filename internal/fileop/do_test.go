package fileop_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

func TestWhatIsCalledOffBeforehandMakesNoSystemCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "new")
	for kind := range fileop.Kinds {
		if kind == fileop.Close {
			continue // nobody else would give the descriptor back
		}
		op := fileop.Op{
			Kind: kind, Flags: syscall.O_CREAT, Buf: make([]byte, 1), Len: 1,
			File: &fileop.File{FD: ^uintptr(0)}, More: &fileop.More{Path: path},
		}
		if op.Do(ctx, nil); !errors.Is(op.Err, fileop.ErrCancelled) || op.N != 0 {
			t.Errorf("kind %d: %d, %v", kind, op.N, op.Err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was made")
	}
}

func TestAFullTransferGoesOnFromWhatWasMovedBefore(t *testing.T) {
	data := random(100)
	f := open(t, fileOf(t, data), syscall.O_RDONLY)
	got := make([]byte, 100)
	copy(got, data[:40])
	op := done(t, &fileop.Op{Kind: fileop.Read, Full: true, File: f, Buf: got, N: 40})
	if op.N != 100 || !bytes.Equal(got, data) {
		t.Errorf("%d bytes", op.N)
	}
}

func TestAKindThatIsNoneIsRefused(t *testing.T) {
	op := fileop.Op{Kind: fileop.Kinds}
	if op.Do(t.Context(), nil); op.Err == nil {
		t.Error("done")
	}
}

func TestADirectOpenIsOneOrUnsupported(t *testing.T) {
	op := fileop.Op{Kind: fileop.Open, Flags: fileop.Direct, More: &fileop.More{Path: fileOf(t, nil)}}
	op.Do(t.Context(), nil)
	switch runtime.GOOS {
	case "linux", "darwin":
		if op.Err == nil {
			done(t, &fileop.Op{Kind: fileop.Close, File: &fileop.File{FD: uintptr(op.N)}})
		} else if !errors.Is(op.Err, syscall.EINVAL) { // of the file system
			t.Error(op.Err)
		}
	default:
		if !errors.Is(op.Err, errors.ErrUnsupported) {
			t.Error(op.Err)
		}
	}
}

func TestACopyThroughABufferIsThatOfTheKernel(t *testing.T) {
	data := random(1 << 20)
	from, path := open(t, fileOf(t, data), syscall.O_RDONLY), fileOf(t, nil)
	to := open(t, path, syscall.O_RDWR)
	op := fileop.Op{
		Kind: fileop.CopyRange, Full: true, File: from, Off: 1, Len: 2 << 20, More: &fileop.More{File2: to},
	}
	op.CopyLoop(t.Context(), nil)
	if op.N != int64(len(data)-1) || op.Err != nil {
		t.Errorf("%d, %v", op.N, op.Err)
	}
	contents(t, path, data[1:])
}

func TestACopyOntoItsOwnSourceIsRefused(t *testing.T) {
	data := random(100)
	path := fileOf(t, data)
	a, b := open(t, path, syscall.O_RDWR), open(t, path, syscall.O_RDWR)
	for _, to := range []*fileop.File{a, b} {
		op := fileop.Op{Kind: fileop.CopyRange, Full: true, File: a, Len: 50, More: &fileop.More{File2: to, Off2: 49}}
		if op.Do(t.Context(), nil); !errors.Is(op.Err, syscall.EINVAL) {
			t.Errorf("%d, %v", op.N, op.Err)
		}
	}
	contents(t, path, data)
	done(t, &fileop.Op{Kind: fileop.CopyRange, Full: true, File: a, Len: 50, More: &fileop.More{File2: b, Off2: 50}})
	contents(t, path, append(bytes.Clone(data[:50]), data[:50]...))
}

func TestOperationsAllocateNothing(t *testing.T) {
	f := open(t, fileOf(t, random(10000)), syscall.O_RDWR)
	page, bufs := make([]byte, 4096), [][]byte{make([]byte, 10), make([]byte, 4096)}
	more := &fileop.More{Bufs: bufs}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), ctx} {
		for _, op := range []fileop.Op{
			{Kind: fileop.Read, File: f, Buf: page},
			{Kind: fileop.Read, File: f, Buf: page, Full: true, Off: 8000},
			{Kind: fileop.Read, File: f, More: more},
			{Kind: fileop.Write, File: f, Buf: page},
			{Kind: fileop.Write, File: f, Buf: page[:1], Off: fileop.AtPosition},
			{Kind: fileop.Write, File: f, More: more},
			{Kind: fileop.Fdatasync, File: f},
			{Kind: fileop.Stat, File: f, More: more},
			{Kind: fileop.Truncate, File: f, Len: 10000},
			{Kind: fileop.Flock, File: f, Flags: fileop.LockShared},
		} {
			if n := testing.AllocsPerRun(20, func() {
				op.N = 0
				op.Do(ctx, nil)
			}); n > 0 && runtime.GOOS != "windows" {
				t.Errorf("kind %d: %v allocations", op.Kind, n)
			}
		}
	}
	op := fileop.Op{Kind: fileop.Read, File: f, Buf: page}
	if n := testing.AllocsPerRun(100, func() {
		op.N = 0
		op.TryCached()
	}); n > 0 {
		t.Errorf("TryCached: %v allocations", n)
	}
}

// Nothing was copied, and the error of the target is that of the operation.
func TestACopyThroughABufferFailsAsItsTargetDoes(t *testing.T) {
	from := open(t, fileOf(t, random(1000)), syscall.O_RDONLY)
	to := open(t, fileOf(t, nil), syscall.O_RDONLY) // not to be written to
	for _, full := range []bool{false, true} {
		op := fileop.Op{Kind: fileop.CopyRange, Full: full, File: from, Len: 1000, More: &fileop.More{File2: to}}
		op.CopyLoop(t.Context(), nil)
		if op.N != 0 || op.Err == nil {
			t.Errorf("full %v: %d, %v", full, op.N, op.Err)
		}
	}
}
