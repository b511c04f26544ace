//go:build linux && (amd64 || 386 || arm64)

package rawio_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// storm sends the signal to all threads of this process 10,000 times a second, until
// the function that it returns is called, which reports how often. The signal is
// taken, so that every system call that it meets ends with EINTR.
func storm(t *testing.T, s *interrupt.Signal) (calm func() int) {
	var stop atomic.Bool
	sent := make(chan int)
	pid := uintptr(os.Getpid())
	go func() {
		n := 0
		defer func() { sent <- n }()
		start := time.Now()
		var tids []uintptr
		for ; !stop.Load(); n++ {
			if n%32 == 0 { // threads come, and seldom go
				tids = threads(t)
			}
			for _, tid := range tids {
				_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, pid, tid, uintptr(s.Number()))
			}
			if ahead := time.Duration(n)*100*time.Microsecond - time.Since(start); ahead > 0 {
				time.Sleep(ahead)
			}
		}
	}()
	return func() int {
		stop.Store(true)
		return <-sent
	}
}

// threads returns the numbers of the threads of this process.
func threads(t *testing.T) (tids []uintptr) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Error(err)
			continue
		}
		tids = append(tids, uintptr(tid))
	}
	return tids
}

// all makes a transfer until p is done, as callers do.
func all(t *testing.T, p []byte, transfer func([]byte) (int, error)) {
	for len(p) > 0 {
		n, err := transfer(p[:rand.IntN(len(p))/2+1])
		if n <= 0 || err != nil {
			t.Errorf("%d, %v", n, err)
			return
		}
		p = p[n:]
	}
}

func random(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	return p
}

func TestDataIsIntactInAStormOfSignals(t *testing.T) {
	s := taken(t)
	size, rounds := 1<<20, 4
	if os.Getenv("IOLANE_STRESS") == "1" {
		size, rounds = 8<<20, 50
	}
	calm := storm(t, s)
	var wg sync.WaitGroup
	wg.Go(func() { throughPipe(t, s, size, rounds) })
	wg.Go(func() { throughFile(t, s, size, rounds) })
	wg.Go(func() {
		for range rounds * 5 {
			start := time.Now()
			err := rawio.Nanosleep(interrupt.NewCall(s), 5*time.Millisecond)
			if d := time.Since(start); err != nil || d < 5*time.Millisecond {
				t.Errorf("slept %v: %v", d, err)
			}
		}
	})
	start := time.Now()
	wg.Wait()
	n, d := calm(), time.Since(start)
	t.Logf("%d signals to each thread in %v: %.0f a second", n, d, float64(n)/d.Seconds())
}

func throughPipe(t *testing.T, s *interrupt.Signal, size, rounds int) {
	r, w := pipe(t)
	for range rounds {
		sent, got := random(size), make([]byte, size)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c := interrupt.NewCall(s)
			all(t, sent, func(p []byte) (int, error) { return rawio.Write(c, w, p) })
		}()
		c := interrupt.NewCall(s)
		all(t, got, func(p []byte) (int, error) { return rawio.Read(c, r, p) })
		<-done
		if !bytes.Equal(sent, got) {
			t.Error("pipe: the data is not what was sent")
		}
	}
}

func throughFile(t *testing.T, s *interrupt.Signal, size, rounds int) {
	fd := tempFile(t)
	c := interrupt.NewCall(s)
	for range rounds {
		sent, got := random(size), make([]byte, size)
		var off int64
		move := func(op func(*interrupt.Call, uintptr, []byte, int64) (int, error)) func([]byte) (int, error) {
			off = 0
			return func(p []byte) (int, error) {
				n, err := op(c, fd, p, off)
				off += int64(n)
				return n, err
			}
		}
		all(t, sent, move(rawio.Pwrite))
		if err := rawio.Flock(c, fd, syscall.LOCK_EX); err != nil {
			t.Error(err)
		}
		if err := rawio.Fdatasync(c, fd); err != nil {
			t.Error(err)
		}
		all(t, got, move(rawio.Pread))
		if !bytes.Equal(sent, got) {
			t.Error("file: the data is not what was written")
		}
	}
}
