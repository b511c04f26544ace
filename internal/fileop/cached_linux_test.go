package fileop_test

import (
	"bytes"
	"math"
	"os"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// Advice of posix_fadvise.
const (
	randomly = 1
	dontNeed = 4
)

func TestAWarmReadIsThatOfPackageOS(t *testing.T) {
	data := random(200000)
	path := fileOf(t, data)
	oracle, err := os.Open(path)
	must(t, err)
	defer func() { must(t, oracle.Close()) }()
	f := open(t, path, syscall.O_RDONLY)
	done(t, &fileop.Op{Kind: fileop.Read, File: f, Full: true, Buf: make([]byte, len(data))})
	for _, off := range []int64{0, 1, 4096, 134000, 199999, 200000, 300000} {
		for _, size := range []int{1, 4096, 65536, 65537, 200000} {
			for _, full := range []bool{false, true} {
				want, got := make([]byte, size), make([]byte, size)
				n, _ := oracle.ReadAt(want, off)
				op := fileop.Op{Kind: fileop.Read, File: f, Full: full, Buf: got, Off: off}
				if !op.TryCached() {
					if f.Warm.Load() == fileop.Unavailable {
						t.Skip("this file system does not tell what is in the page cache")
					}
					t.Errorf("%d bytes at %d are not there", size, off)
					continue
				}
				if op.Err != nil || op.N != int64(n) || !bytes.Equal(got, want) {
					t.Errorf("%d bytes at %d: %d, %v, package os %d", size, off, op.N, op.Err, n)
				}
			}
		}
	}
}

// cool has the kernel forget the file's pages, which have to be on the device for that.
// All of them: one large folio is forgotten as a whole or not at all.
func cool(t *testing.T, f *fileop.File) {
	done(t, &fileop.Op{Kind: fileop.Fsync, File: f})
	done(t, &fileop.Op{Kind: fileop.Advise, File: f, Flags: randomly})
	done(t, &fileop.Op{Kind: fileop.Advise, File: f, Flags: dontNeed})
}

func TestAColdReadIsLeftToTheEngine(t *testing.T) {
	data := random(64 << 10)
	f := open(t, fileOf(t, data), syscall.O_RDWR)
	for _, full := range []bool{false, true} {
		for _, warm := range []int{0, 32 << 10} {
			got := make([]byte, len(data))
			op := fileop.Op{Kind: fileop.Read, File: f, Full: full, Buf: got}
			leave(t, &op, warm)
			if op.Err != nil || !full && op.N != 0 || !bytes.Equal(got[:op.N], data[:op.N]) {
				t.Fatalf("%d, %v", op.N, op.Err)
			}
			if done(t, &op); op.N != int64(len(data)) || !bytes.Equal(got, data) {
				t.Errorf("full %v: %d in the end", full, op.N)
			}
		}
	}
}

// leave has the kernel forget all but the first bytes, and tries to read them from the page
// cache. The kernel may keep what it likes, so it is asked more than once.
func leave(t *testing.T, op *fileop.Op, warm int) {
	t.Helper()
	for range 100 {
		cool(t, op.File)
		done(t, &fileop.Op{Kind: fileop.Read, File: op.File, Full: true, Buf: make([]byte, warm)})
		if op.N = 0; !op.TryCached() {
			break
		}
		op.File.Warm.Store(0)
	}
	if op.File.Warm.Load() <= 0 {
		t.Skip("this file system does not tell what is in the page cache, or forgets nothing")
	}
	op.File.Warm.Store(0)
}

func TestWhereTheKernelCannotTellItIsAskedOnce(t *testing.T) {
	f := open(t, "/proc/self/status", syscall.O_RDONLY)
	op := fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 10)}
	if !f.Seeks || op.TryCached() {
		t.Fatal("it can tell")
	}
	if w := f.Warm.Load(); w != fileop.Unavailable {
		t.Errorf("%d", w)
	}
	if done(t, &op); op.N != 10 {
		t.Errorf("%d, %v", op.N, op.Err)
	}
}

func TestWhatIsNotForThePageCache(t *testing.T) {
	f := open(t, fileOf(t, random(100)), syscall.O_RDWR)
	noOffsets, past := fileop.File{FD: f.FD}, fileop.File{FD: f.FD, Seeks: true, Direct: true}
	ten := make([]byte, 10)
	for _, op := range []fileop.Op{
		{Kind: fileop.Read, File: &noOffsets, Buf: ten},
		{Kind: fileop.Read, File: &past, Buf: ten},
		{Kind: fileop.Read, File: f, Buf: ten, Off: fileop.AtPosition},
		{Kind: fileop.Read, File: f},
		{Kind: fileop.Read, File: f, More: &fileop.More{Bufs: [][]byte{ten}}},
		{Kind: fileop.Write, File: f, Buf: ten},
		{Kind: fileop.Fsync, File: f},
	} {
		if op.TryCached() || op.N != 0 || op.Err != nil {
			t.Errorf("kind %d: %d, %v", op.Kind, op.N, op.Err)
		}
	}
}

// A read that the system refuses says nothing about the file.
func TestAReadPastAllOffsetsIsNoReasonNotToLookAgain(t *testing.T) {
	f := open(t, fileOf(t, random(100)), syscall.O_RDONLY)
	for _, off := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 9} {
		op := fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 10), Off: off}
		if op.TryCached() || f.Warm.Load() == fileop.Unavailable {
			t.Errorf("offset %d: %d, %v", off, f.Warm.Load(), op.Err)
		}
		f.Warm.Store(0)
	}
}
