//go:build linux && (amd64 || 386 || arm64)

package rawio_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

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

func pipe(t testing.TB) (r, w uintptr) {
	t.Helper()
	var p [2]int
	must(t, syscall.Pipe2(p[:], syscall.O_CLOEXEC))
	t.Cleanup(func() {
		_ = syscall.Close(p[0])
		_ = syscall.Close(p[1])
	})
	return uintptr(p[0]), uintptr(p[1])
}

// A write that has filled the pipe and waits for room is cut short: what it wrote
// is known, and the next one is refused.
func TestAnInterruptedTransferReturnsWhatItMoved(t *testing.T) {
	s := taken(t)
	r, w := pipe(t)
	c := interrupt.NewCall(s)
	go func() {
		// It blocks once a byte can be read; the room is a multiple of the page.
		if _, err := rawio.Read(nil, r, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		if err := c.Interrupt(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	p := make([]byte, 1<<20)
	n, err := rawio.Write(c, w, p)
	if err != nil || n < 1 || n >= len(p) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := rawio.Write(c, w, p[n:]); n != 0 || !errors.Is(err, interrupt.ErrInterrupted) {
		t.Errorf("the next: %d, %v", n, err)
	}
	got := 1
	must(t, syscall.SetNonblock(int(r), true))
	for {
		m, err := rawio.Read(nil, r, p)
		if err != nil {
			break
		}
		got += m
	}
	if got != n {
		t.Errorf("%d bytes in the pipe, %d reported", got, n)
	}
}

// What has happened is delivered, whether or not the call was asked meanwhile: each
// byte is read once, by the call that says so.
func TestAnInterruptThatMeetsTheEndOfTheReadLosesNothing(t *testing.T) {
	s := taken(t)
	r, w := pipe(t)
	lost, read := 0, 0
	for range 2000 {
		c := interrupt.NewCall(s)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = rawio.Write(nil, w, []byte("."))
			_ = c.Interrupt(context.Background())
		}()
		switch n, err := rawio.Read(c, r, make([]byte, 1)); {
		case n == 1 && err == nil:
			read++
		case n == 0 && errors.Is(err, interrupt.ErrInterrupted):
			lost++
		default:
			t.Fatalf("%d, %v", n, err)
		}
		<-done
		for range lost { // those that were not read are still there
			if n, err := rawio.Read(nil, r, make([]byte, 1)); n != 1 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		lost = 0
	}
	if read == 0 {
		t.Error("no read had a result")
	}
}

func TestOpenKnowsAllBitsOfTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	fd, err := rawio.Open(nil, path, syscall.O_CREAT|syscall.O_RDWR, 0o700|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)
	must(t, err)
	defer func() { must(t, rawio.Close(fd)) }()
	var st syscall.Stat_t
	must(t, syscall.Fstat(int(fd), &st))
	if st.Mode&0o7777 != 0o7700 {
		t.Errorf("%o", st.Mode)
	}
}

func TestOperationsAllocateNothing(t *testing.T) {
	s := taken(t)
	fd := tempFile(t)
	c := interrupt.NewCall(s)
	p := make([]byte, 512)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = rawio.Pwrite(c, fd, p, 0)
		_, _ = rawio.Pread(c, fd, p, 0)
		_ = rawio.Flock(c, fd, syscall.LOCK_EX)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPread(b *testing.B) {
	fd := tempFile(b)
	p := make([]byte, 4096)
	_, err := rawio.Pwrite(nil, fd, p, 0)
	must(b, err)
	for name, c := range map[string]*interrupt.Call{"nobody": nil, "call": interrupt.NewCall(taken(b))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rawio.Pread(c, fd, p, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
