//go:build amd64 || 386 || arm64

package uring

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// live returns a ring of this kernel, closed at the end of the test.
func live(t testing.TB, c Config) *Ring {
	t.Helper()
	r, err := New(c)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := r.Close(10*time.Second, nil); err != nil {
			t.Error(err)
		}
	})
	return r
}

// one does one operation and returns its result.
func one(t testing.TB, r *Ring, describe func(s Slot)) int32 {
	t.Helper()
	s, ok := r.Take()
	require.True(t, ok)
	describe(s)
	return wait(t, r, s).Res
}

// wait waits for the completion of this operation, the only one.
func wait(t testing.TB, r *Ring, s Slot) Completion {
	t.Helper()
	var got Completion
	for n := 0; n == 0; {
		require.NoError(t, r.Enter(All, 1, 10*time.Second))
		n = r.Reap(func(c Completion) { got = c })
		if n == 0 && !r.Ready() && r.Busy() == 0 {
			t.Fatal("lost")
		}
	}
	if got.Slot.Index() != s.Index() {
		t.Fatalf("completion of %d, want %d", got.Slot.Index(), s.Index())
	}
	return got
}

// configs are the ways to drive a ring on one thread.
func configs() map[string]Config {
	return map[string]Config{
		"plain":  {},
		"thread": {Thread: true},
		"small":  {Slots: 2, Entries: 2},
	}
}

// onEach runs a test on a ring of each kind, on a thread of its own.
func onEach(t *testing.T, f func(t *testing.T, r *Ring)) {
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			r := live(t, c)
			f(t, r)
			if err := r.Close(10*time.Second, nil); err != nil { // on this thread
				t.Error(err)
			}
		})
	}
}

func TestEachOperationDoesItsWork(t *testing.T) {
	onEach(t, func(t *testing.T, r *Ring) {
		is := func(what string, got, want int32) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %d, want %d", what, got, want)
			}
		}
		is("nop", one(t, r, r.Nop), 0)
		fd := FD(one(t, r, func(s Slot) { openat(r, s, filepath.Join(t.TempDir(), "f"), syscall.O_RDWR|syscall.O_CREAT, 0o600) }))
		if fd < 0 {
			t.Fatal("openat:", syscall.Errno(-fd))
		}
		is("write", one(t, r, func(s Slot) { r.Write(s, fd, []byte("hello, world"), 0) }), 12)
		buf := make([]byte, 5)
		is("read", one(t, r, func(s Slot) { r.Read(s, fd, buf, 7) }), 5)
		if string(buf) != "world" {
			t.Errorf("read %q", buf)
		}
		a, b := make([]byte, 5), make([]byte, 20)
		is("readv", one(t, r, func(s Slot) { r.Readv(s, fd, Pieces(nil, a, b), 0) }), 12)
		if string(a) != "hello" || string(b[:7]) != ", world" {
			t.Errorf("readv %q %q", a, b)
		}
		is("writev", one(t, r, func(s Slot) { r.Writev(s, fd, Pieces(nil, []byte("ab"), []byte("cd")), 0) }), 4)
		require.NoError(t, syscall.Close(int(fd)))
		is("read closed", one(t, r, func(s Slot) { r.Read(s, fd, buf, 0) }), -int32(syscall.EBADF))

		start := time.Now()
		is("timeout", one(t, r, func(s Slot) { r.Timeout(s, 5*time.Millisecond) }), -int32(errTIME))
		is("timeout at", one(t, r, func(s Slot) { r.TimeoutAt(s, r.Now()+5*time.Millisecond) }), -int32(errTIME))
		if took := time.Since(start); took < 10*time.Millisecond {
			t.Errorf("twice 5 ms took %v", took)
		}
		p := pipe(t)
		is("poll", one(t, r, func(s Slot) { poll(r, s, FD(p.w.Fd()), 4) }), 4) // POLLOUT
	})
}

type ends struct{ r, w *os.File }

// pipe returns a pipe whose ends the runtime does not poll.
func pipe(t testing.TB) ends {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Fd() // makes them blocking
	w.Fd()
	t.Cleanup(func() { r.Close(); w.Close() })
	return ends{r, w}
}

func TestRegisteredBuffersAndFilesServe(t *testing.T) {
	onEach(t, func(t *testing.T, r *Ring) {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		require.NoError(t, err)
		defer f.Close()
		buf := make([]byte, 8192)
		require.NoError(t, r.RegisterBuffers([][]byte{buf}))
		require.NoError(t, r.RegisterFiles([]int32{-1, int32(f.Fd())}))
		copy(buf, "hello")
		if n := one(t, r, func(s Slot) { r.WriteFixed(s, Registered(1), buf[:5], 0, 0) }); n != 5 {
			t.Fatal("write:", n)
		}
		if n := one(t, r, func(s Slot) { r.ReadFixed(s, FD(f.Fd()), buf[100:200], 1, 0) }); n != 4 || string(buf[100:104]) != "ello" {
			t.Fatal("read:", n)
		}
		if n := one(t, r, func(s Slot) { r.Read(s, Registered(0), buf, 0) }); n != -int32(syscall.EBADF) {
			t.Error("an empty place:", n)
		}
		if n := one(t, r, func(s Slot) { r.ReadFixed(s, FD(f.Fd()), make([]byte, 10), 0, 0) }); n != -int32(syscall.EFAULT) {
			t.Error("a buffer that is not registered:", n)
		}
		require.NoError(t, r.UnregisterBuffers())
		if err := r.UnregisterBuffers(); !errors.Is(err, syscall.ENXIO) {
			t.Error("unregistered twice:", err)
		}
		if err := r.RegisterBuffers(nil); !errors.Is(err, syscall.EINVAL) {
			t.Error("no buffers:", err)
		}
	})
}

func TestWorkersAreLimited(t *testing.T) {
	runtime.LockOSThread()
	r := live(t, Config{})
	_, _, err := r.LimitWorkers(3, 2)
	require.NoError(t, err)
	bounded, unbounded, err := r.LimitWorkers(0, 0)
	require.NoError(t, err)
	if bounded != 3 || unbounded != 2 {
		t.Errorf("limits %d and %d, want 3 and 2", bounded, unbounded)
	}
}

func TestInfoTellsWhatWasGot(t *testing.T) {
	r := live(t, Config{Slots: 10})
	i := r.Info()
	if i.Slots != 10 || i.Entries < 10 || i.CQEntries < i.Slots+i.Cancels+own || i.Cancels < 1 || !i.Supports(OpRead) || i.Supports(255) {
		t.Errorf("%+v", i)
	}
	t.Log(i)
}

func TestThousandsOfTimersNeedNoGoroutine(t *testing.T) {
	r := live(t, Config{Slots: 10000, Entries: 512})
	start := time.Now()
	taken := 0
	for taken < 10000 {
		s, ok := r.Take()
		if !ok {
			require.NoError(t, r.Submit())
			continue
		}
		taken++
		r.Timeout(s, 100*time.Millisecond)
	}
	for r.Busy() > 0 {
		require.NoError(t, r.Enter(All, 1, -1))
		r.Reap(func(c Completion) {
			if c.Res != -int32(errTIME) {
				t.Error(c)
			}
		})
	}
	if took := time.Since(start); took < 100*time.Millisecond {
		t.Error("too early:", took)
	} else {
		t.Log(took)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	r := live(t, Config{})
	buf := make([]byte, 10)
	told := 0
	done := func(Completion) { told++ }
	p := pipe(t)
	pieces := Pieces(nil, buf)
	if n := testing.AllocsPerRun(100, func() {
		s, _ := r.Take()
		r.Write(s, FD(p.w.Fd()), buf, -1)
		s, _ = r.Take()
		r.Readv(s, FD(p.r.Fd()), pieces, -1)
		s, _ = r.Take()
		r.Timeout(s, time.Hour)
		r.Cancel(s)
		if r.Enter(All, 3, time.Second) != nil {
			t.Fatal("enter")
		}
		r.Reap(done)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
