//go:build amd64 || 386 || arm64

package uring

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// direct opens a file of n blocks for reads that go to the device.
func direct(t *testing.T, n int) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	data := make([]byte, n*4096)
	for i := range data {
		data[i] = 0xdd
	}
	require.NoError(t, os.WriteFile(name, data, 0o600))
	f, err := os.OpenFile(name, os.O_RDWR|directFlag, 0)
	if err != nil {
		t.Skip("no direct reads here:", err)
	}
	require.NoError(t, f.Sync())
	t.Cleanup(func() { f.Close() })
	return f
}

// directFlag is O_DIRECT: not the same number everywhere.
const directFlag = syscall.O_DIRECT

// reads has n blocks being read, and returns what they are read into.
func reads(t *testing.T, r *Ring, f *os.File, n int) [][]byte {
	t.Helper()
	bufs := make([][]byte, n)
	for i := range bufs {
		b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { _ = syscall.Munmap(b) })
		b[0] = 0
		bufs[i] = b
		s, ok := r.Take()
		require.True(t, ok)
		r.Read(s, FD(f.Fd()), b, int64(i)*4096)
	}
	require.NoError(t, r.Submit())
	return bufs
}

func written(bufs [][]byte) (n int) {
	for _, b := range bufs {
		if b[0] == 0xdd {
			n++
		}
	}
	return n
}

// The reason for all that Close does. If it ever fails, the reason has gone; it cannot fail
// by chance, since it claims nothing if the device was faster.
func TestTheKernelWritesIntoBuffersAfterTheRingWasClosed(t *testing.T) {
	f := direct(t, 64)
	r, err := New(Config{Slots: 64})
	if err != nil {
		t.Skip(err)
	}
	bufs := reads(t, r, f, 64)
	r.undo() // what one would think that closing a ring is
	letGo(r)
	at := written(bufs)
	for end := time.Now().Add(5 * time.Second); written(bufs) < len(bufs) && time.Now().Before(end); {
		runtime.Gosched()
	}
	t.Logf("%d of %d buffers were written after close had returned", written(bufs)-at, len(bufs))
}

func TestNothingIsWrittenAfterClose(t *testing.T) {
	f := direct(t, 64)
	for range 20 {
		r, err := New(Config{Slots: 64})
		if err != nil {
			t.Skip(err)
		}
		bufs := reads(t, r, f, 64)
		told := 0
		require.NoError(t, r.Close(10*time.Second, func(Completion) { told++ }))
		if told != 64 {
			t.Errorf("%d told, want 64", told)
		}
		for _, b := range bufs {
			b[0] = 0
		}
		time.Sleep(2 * time.Millisecond) // long enough for a device to be late
		if n := written(bufs); n > 0 {
			t.Fatalf("%d buffers were written after Close", n)
		}
	}
}

func TestCloseEndsWhatWaitsForEver(t *testing.T) {
	onEach(t, func(t *testing.T, r *Ring) {
		p := pipe(t)
		want := r.Info().Slots
		n := 0
		for r.Busy() < want {
			s, ok := r.Take()
			if !ok {
				require.NoError(t, r.Submit())
				continue
			}
			switch n++; n % 3 {
			case 0:
				r.Read(s, FD(p.r.Fd()), make([]byte, 10), -1)
			case 1:
				r.Timeout(s, time.Hour)
			case 2:
				poll(r, s, FD(p.r.Fd()), 1)
			}
		}
		require.NoError(t, r.Enter(All, 1, time.Millisecond))
		told := 0
		require.NoError(t, r.Close(10*time.Second, func(c Completion) {
			if told++; c.Res != -int32(errCANCELED) {
				t.Error(c)
			}
		}))
		if told != want {
			t.Errorf("%d told, want %d", told, want)
		}
	})
}

func TestNoDescriptorIsLeft(t *testing.T) {
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(all)
	}
	live(t, Config{})
	before := count()
	for range 20 {
		runtime.LockOSThread()
		for _, c := range configs() {
			r, err := New(c)
			require.NoError(t, err)
			if c.Thread && r.enterFlags == 0 && r.info.Flags&setupDeferTaskrun != 0 {
				t.Fatal("the thread has no place left for its ring:", r.Info())
			}
			one(t, r, r.Nop)
			require.NoError(t, r.Close(time.Second, nil))
		}
		runtime.UnlockOSThread()
	}
	if n := count(); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}
