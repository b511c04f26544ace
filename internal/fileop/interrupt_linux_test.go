//go:build linux && (amd64 || 386 || arm64)

package fileop_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

func taken(t testing.TB) *interrupt.Signal {
	t.Helper()
	s, err := interrupt.Take(0)
	must(t, err)
	t.Cleanup(s.Release)
	return s
}

func pipe(t testing.TB) (r, w *fileop.File) {
	t.Helper()
	var p [2]int
	must(t, syscall.Pipe2(p[:], syscall.O_CLOEXEC))
	t.Cleanup(func() {
		must(t, syscall.Close(p[0]))
		must(t, syscall.Close(p[1]))
	})
	return &fileop.File{FD: uintptr(p[0])}, &fileop.File{FD: uintptr(p[1])}
}

// descriptors is how many this process has open.
func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all)
}

// race does the operation while help, which would let it succeed, and the end of its
// context come at the same time, and reports whether it has succeeded. It is never both
// nor neither.
func race(t *testing.T, s *interrupt.Signal, op *fileop.Op, help func()) (succeeded bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	helped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(helped)
		spin()
		help()
	}()
	go func() {
		defer close(ended)
		spin()
		cancel()
	}()
	op.Interruptible = true
	op.Do(ctx, s)
	<-helped
	<-ended
	if op.Err != nil && !errors.Is(op.Err, fileop.ErrCancelled) {
		t.Fatal(op.Err)
	}
	return op.Err == nil
}

func spin() {
	for range rand.IntN(30) {
		runtime.Gosched()
	}
}

// both says what came of 1000 races.
func both(t *testing.T, once func() (succeeded bool)) {
	t.Helper()
	n := 0
	for range 1000 {
		if once() {
			n++
		}
	}
	t.Logf("%d of 1000 succeeded", n)
}

func TestAnOpenThatIsCalledOffLeavesNoDescriptor(t *testing.T) {
	s := taken(t)
	path := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(path, 0o600))
	before := descriptors(t)
	both(t, func() bool {
		writer := -1
		op := fileop.Op{Kind: fileop.Open, Flags: syscall.O_RDONLY, More: &fileop.More{Path: path}}
		ok := race(t, s, &op, func() {
			writer, _ = syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0) // ENXIO: it is gone
		})
		if ok {
			must(t, rawio.Close(uintptr(op.N)))
		}
		if writer >= 0 {
			must(t, syscall.Close(writer))
		}
		return ok
	})
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func TestAByteIsReadOrStaysInThePipe(t *testing.T) {
	s := taken(t)
	r, w := pipe(t)
	both(t, func() bool {
		op := fileop.Op{Kind: fileop.Read, File: r, Buf: make([]byte, 1), Off: fileop.AtPosition}
		ok := race(t, s, &op, func() {
			done(t, &fileop.Op{Kind: fileop.Write, File: w, Buf: []byte("."), Off: fileop.AtPosition})
		})
		if ok != (op.N == 1) {
			t.Fatalf("%d, %v", op.N, op.Err)
		}
		if !ok {
			done(t, &fileop.Op{Kind: fileop.Read, File: r, Buf: make([]byte, 1), Off: fileop.AtPosition})
		}
		return ok
	})
}

func TestAFullReadThatIsCalledOffSaysWhatItHas(t *testing.T) {
	s := taken(t)
	r, w := pipe(t)
	both(t, func() bool {
		buf := make([]byte, 4)
		op := fileop.Op{Kind: fileop.Read, Full: true, File: r, Buf: buf, Off: fileop.AtPosition}
		ok := race(t, s, &op, func() {
			for i := range 4 {
				done(t, &fileop.Op{Kind: fileop.Write, File: w, Buf: []byte{byte('a' + i)}, Off: fileop.AtPosition})
				runtime.Gosched()
			}
		})
		if ok != (op.N == 4) {
			t.Fatalf("%d, %v", op.N, op.Err)
		}
		done(t, &fileop.Op{Kind: fileop.Read, Full: true, File: r, Buf: op.Rest(), Off: fileop.AtPosition})
		if string(buf) != "abcd" {
			t.Fatalf("%q", buf)
		}
		return ok
	})
}

func TestALockIsTakenOrFree(t *testing.T) {
	s := taken(t)
	path := fileOf(t, random(10))
	a, b, c := open(t, path, syscall.O_RDWR), open(t, path, syscall.O_RDWR), open(t, path, syscall.O_RDWR)
	for _, kind := range []fileop.Kind{fileop.Flock, fileop.RangeLock} {
		lock := func(f *fileop.File, flags int32) error {
			op := fileop.Op{Kind: kind, File: f, Flags: flags}
			op.Do(context.Background(), nil)
			return op.Err
		}
		both(t, func() bool {
			must(t, lock(a, fileop.LockExclusive))
			op := fileop.Op{Kind: kind, File: b, Flags: fileop.LockExclusive}
			ok := race(t, s, &op, func() { must(t, lock(a, fileop.Unlock)) })
			if free := lock(c, fileop.LockExclusive|fileop.LockNoWait) == nil; free == ok {
				t.Fatalf("taken %v, free %v", ok, free)
			}
			must(t, lock(b, fileop.Unlock))
			must(t, lock(c, fileop.Unlock))
			return ok
		})
	}
}

// Each of these blocks for good.
func TestTheEndOfTheContextEndsWhatBlocks(t *testing.T) {
	s := taken(t)
	path := filepath.Join(t.TempDir(), "fifo")
	must(t, syscall.Mkfifo(path, 0o600))
	r, w := pipe(t)
	two := make([]byte, 2)
	file := fileOf(t, nil)
	holder, waiter := open(t, file, syscall.O_RDWR), open(t, file, syscall.O_RDWR)
	for _, kind := range []fileop.Kind{fileop.Flock, fileop.RangeLock} {
		done(t, &fileop.Op{Kind: kind, File: holder, Flags: fileop.LockShared})
	}
	for _, op := range []fileop.Op{
		{Kind: fileop.Open, Flags: syscall.O_WRONLY, More: &fileop.More{Path: path}},
		{Kind: fileop.Read, File: r, Buf: two, Off: fileop.AtPosition},
		{Kind: fileop.Read, File: r, More: &fileop.More{Bufs: [][]byte{two}}, Off: fileop.AtPosition},
		{Kind: fileop.Write, Full: true, File: w, Buf: make([]byte, 1<<21), Off: fileop.AtPosition},
		{Kind: fileop.Flock, File: waiter, Flags: fileop.LockExclusive},
		{Kind: fileop.RangeLock, File: waiter, Flags: fileop.LockExclusive},
		{Kind: fileop.Sleep, Off: 1 << 60},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			spin()
			cancel()
		}()
		op.Interruptible = true
		if op.Do(ctx, s); !errors.Is(op.Err, fileop.ErrCancelled) || op.Kind != fileop.Write && op.N != 0 {
			t.Errorf("kind %d: %d, %v", op.Kind, op.N, op.Err)
		}
	}
}

// asked is a context that tells when it was asked whether it has ended: what comes then is
// too late to keep the first system call from being made.
type asked struct {
	context.Context
	told chan struct{}
}

func (a asked) Err() error {
	defer func() { a.told <- struct{}{} }()
	return a.Context.Err()
}

func TestWhatIsNotInterruptibleIsDoneToItsEnd(t *testing.T) {
	s := taken(t)
	r, w := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan struct{})
	go func() {
		<-told
		cancel()
		_, _ = syscall.Write(int(w.FD), []byte("."))
	}()
	op := fileop.Op{Kind: fileop.Read, File: r, Buf: make([]byte, 1), Off: fileop.AtPosition}
	op.Do(asked{ctx, told}, s)
	if op.N != 1 || op.Err != nil {
		t.Errorf("%d, %v", op.N, op.Err)
	}
}

func TestWhatWasMovedBeforeTheEndOfTheContextIsKept(t *testing.T) {
	r, w := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan struct{})
	go func() {
		<-told
		cancel()
		_, _ = syscall.Write(int(w.FD), []byte("."))
		<-told // between the pieces
	}()
	op := fileop.Op{Kind: fileop.Read, Full: true, File: r, Buf: make([]byte, 2), Off: fileop.AtPosition}
	op.Do(asked{ctx, told}, nil)
	if op.N != 1 || !errors.Is(op.Err, fileop.ErrCancelled) {
		t.Errorf("%d, %v", op.N, op.Err)
	}
}
