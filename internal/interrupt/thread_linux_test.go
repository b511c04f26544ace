//go:build linux && (amd64 || 386 || arm64)

package interrupt

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A goroutine that is not locked goes from thread to thread when it sleeps among
// others that do.
func TestASectionStaysOnItsThread(t *testing.T) {
	s := mustTake(t)
	defer s.Release()
	var stop atomic.Bool
	defer stop.Store(true)
	for range 4 {
		go func() {
			for !stop.Load() {
				time.Sleep(time.Microsecond)
			}
		}()
	}
	c := NewCall(s)
	enter(t, c)
	defer c.Leave()
	for range 200 {
		time.Sleep(time.Microsecond)
		if tid := gettid(); tid != c.tid {
			t.Fatalf("on thread %d, signals go to %d", tid, c.tid)
		}
	}
}

// The signal comes upon a thread that computes, and leaves at that moment: where the
// kernel has not told the thread yet, its next system call would meet the signal.
func TestASignalThatComesLateMeetsNothing(t *testing.T) {
	s := mustTake(t)
	defer s.Release()
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Close(p[0]), syscall.Close(p[1]) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 2000 {
		c := NewCall(s)
		enter(t, c)
		fed := make(chan error)
		go func() {
			for range 3 {
				c.Ask()
			}
			_, err := syscall.Write(p[1], []byte("."))
			fed <- err
		}()
		for !c.Asked() {
			runtime.Gosched()
		}
		c.Leave()
		if _, err := syscall.Read(p[0], make([]byte, 1)); errors.Is(err, syscall.EINTR) {
			t.Fatal("the system call after the section was hit")
		}
		if err := <-fed; err != nil {
			t.Fatal(err)
		}
	}
}
