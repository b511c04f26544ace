//go:build amd64 || 386 || arm64

package uring

import (
	"errors"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A request belongs to the thread that submitted it. When that thread ends the kernel may
// cancel the request, or fail it with EFAULT, though nobody asked for that. None is lost,
// none is told as done that was not, and what is submitted again from a thread that
// lives is right.
func TestAThreadThatEndsLosesNothing(t *testing.T) {
	const blocks, size = 512, 4096
	f := numbered(t, blocks, size)
	r := live(t, Config{Slots: 64})
	p := pipe(t)
	buf := make([]byte, 1)
	var waiting Slot
	failed, fine := 0, 0
	rounds := 40
	for round := range rounds {
		// So that the device has to be asked.
		_, _, _ = syscall.Syscall6(fadviseNumber(), f.Fd(), 0, 0, 4, 0, 0)
		bufs := map[int]int64{}
		var data [64][]byte
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread() // and never unlocks: the thread ends with the goroutine
			if round == 0 {
				waiting, _ = r.Take()
				r.Read(waiting, FD(p.r.Fd()), buf, -1)
			}
			for i := range 32 {
				s, ok := r.Take()
				if !ok {
					break
				}
				off := int64((round*32+i)*37%blocks) * size
				bufs[s.Index()], data[s.Index()] = off, make([]byte, size)
				r.Read(s, FD(f.Fd()), data[s.Index()], off)
			}
			if err := r.Submit(); err != nil {
				t.Error(err)
			}
		}()
		<-ended
		for len(bufs) > 0 {
			require.NoError(t, r.Enter(All, 1, 10*time.Second))
			if !r.Ready() {
				t.Fatalf("%d lost", len(bufs))
			}
			r.Reap(func(c Completion) {
				off, ok := bufs[c.Slot.Index()]
				switch {
				case !ok && c.Slot.Index() == waiting.Index():
					if c.Res != -int32(errCANCELED) {
						t.Error("the pipe:", c)
					}
					return
				case !ok:
					t.Fatal("told of an operation that was not pending")
				case c.Res == size && right(data[c.Slot.Index()], off):
					fine++
				case c.Res == -int32(errCANCELED) || c.Res == -int32(errFAULT):
					failed++
					if s, ok := r.Take(); ok {
						again := make([]byte, size)
						bufs[s.Index()], data[s.Index()] = off, again
						r.Read(s, FD(f.Fd()), again, off)
						if s.Index() == c.Slot.Index() {
							return
						}
					}
				default:
					t.Error("told as done:", c.Res)
				}
				delete(bufs, c.Slot.Index())
			})
		}
	}
	if fine != rounds*32 {
		t.Errorf("%d read, want %d", fine, rounds*32)
	}
	t.Logf("%d reads failed because their thread had ended, and were right the second time", failed)
}

func fadviseNumber() uintptr {
	return map[string]uintptr{"amd64": 221, "386": 250, "arm64": 223}[runtime.GOARCH]
}

func TestARingOfAThreadRetiresWhenAnotherOneDrivesIt(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := live(t, Config{Thread: true})
	if r.Info().Flags&setupDeferTaskrun == 0 {
		t.Skip(r.Info())
	}
	nops(t, r, 3)
	other := make(chan error)
	go func() {
		runtime.LockOSThread() // so that it is not this thread, which is locked
		defer runtime.UnlockOSThread()
		other <- r.Submit()
	}()
	if err := <-other; !errors.Is(err, ErrRetired) {
		t.Error(err)
	}
	n := 0
	if err := r.Close(time.Second, func(c Completion) {
		if c.Dropped {
			n++
		}
	}); err != nil || n != 3 {
		t.Error(err, n)
	}
}
