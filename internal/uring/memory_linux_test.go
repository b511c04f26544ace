//go:build amd64 || 386 || arm64

package uring

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
)

func TestAnOperationHoldsItsMemoryUntilItsCompletion(t *testing.T) {
	r := live(t, Config{})
	p := pipe(t)
	forgotten := func() weak.Pointer[[100]byte] {
		buf := new([100]byte)
		s, _ := r.Take()
		r.Read(s, FD(p.r.Fd()), buf[:], -1)
		require.NoError(t, r.Submit())
		return weak.Make(buf)
	}()
	for range 3 {
		runtime.GC()
	}
	if forgotten.Value() == nil {
		t.Fatal("collected while the kernel may write into it")
	}
	_, err := p.w.WriteString("x")
	require.NoError(t, err)
	require.NoError(t, r.Enter(All, 1, 10*time.Second))
	if r.Reap(nil) != 1 {
		t.Fatal("not read")
	}
	for range 3 {
		runtime.GC()
	}
	if forgotten.Value() != nil {
		t.Error("kept after the completion")
	}
}

// What is on the stack of a goroutine moves when the stack grows.
func TestNoStackBufferReachesTheKernel(t *testing.T) {
	r := live(t, Config{})
	p := pipe(t)
	done := make(chan struct{})
	go func() { // with a small stack
		defer close(done)
		var buf [64]byte
		s, _ := r.Take()
		r.Read(s, FD(p.r.Fd()), buf[:], -1)
		if r.Submit() != nil {
			t.Error("submit")
		}
		if grow(200) != 200 {
			t.Error("grow")
		}
		_, _ = p.w.WriteString("hello")
		if r.Enter(All, 1, 10*time.Second) != nil || r.Reap(nil) != 1 {
			t.Error("not read")
		}
		if string(buf[:5]) != "hello" {
			t.Errorf("%q", buf[:5])
		}
	}()
	<-done
}

//go:noinline
func grow(n int) int {
	var big [1024]byte
	big[n%1024] = 1
	if n == 0 {
		return 0
	}
	return grow(n-1) + int(big[n%1024])
}

func TestAForgottenRingIsNotCollected(t *testing.T) {
	before := Alive()
	r := func() weak.Pointer[Ring] {
		r, err := New(Config{})
		if err != nil {
			t.Skip(err)
		}
		return weak.Make(r)
	}()
	for range 3 {
		runtime.GC()
	}
	if r.Value() == nil || Alive() != before+1 {
		t.Fatal("collected")
	}
	require.NoError(t, r.Value().Close(time.Second, nil))
	if Alive() != before {
		t.Error("alive after its end")
	}
}

// numbered makes a file of n blocks of size bytes; each word of it is its own offset.
func numbered(t testing.TB, n, size int) *os.File {
	t.Helper()
	data := make([]byte, n*size)
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], uint64(i))
	}
	name := filepath.Join(t.TempDir(), "numbered")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// right tells whether buf holds what the file has at off.
func right(buf []byte, off int64) bool {
	for i := 0; i+8 <= len(buf); i += 8 {
		if binary.LittleEndian.Uint64(buf[i:]) != uint64(off)+uint64(i) {
			return false
		}
	}
	return true
}

func TestReadsIntoTheHeapAreRightWhileItIsCollected(t *testing.T) {
	total := 30000
	if raceDetector {
		total = 3000
	}
	const blocks, size, depth = 256, 4096, 32
	f := numbered(t, blocks, size)
	r := live(t, Config{Slots: depth})
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	type read struct {
		buf []byte
		off int64
	}
	var pending [depth]read
	var waste [][]byte
	begun, ended := 0, 0
	for ended < total {
		for begun < total {
			s, ok := r.Take()
			if !ok {
				break
			}
			off := int64(begun*7919%blocks) * size
			pending[s.Index()] = read{make([]byte, size), off}
			r.Read(s, FD(f.Fd()), pending[s.Index()].buf, off)
			begun++
			if begun%8 == 0 {
				require.NoError(t, r.Submit())
				waste = append(waste[max(0, len(waste)-20):], make([]byte, size))
				grow(begun % 100)
			}
		}
		require.NoError(t, r.Enter(All, 1, 10*time.Second))
		r.Reap(func(c Completion) {
			p := &pending[c.Slot.Index()]
			if c.Res != size || !right(p.buf, p.off) {
				t.Fatalf("block at %d: %d, or something else is there", p.off, c.Res)
			}
			p.buf = nil
			ended++
		})
	}
}
