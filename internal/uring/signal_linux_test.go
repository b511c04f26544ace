//go:build amd64 || 386 || arm64

package uring

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// storm sends SIGURG, the signal by which the runtime preempts, to the process until the
// test is over.
func storm(t *testing.T) {
	t.Helper()
	var stop atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		tids := threads(t)
		for i := 0; !stop.Load(); i++ {
			if i%100 == 0 {
				tids = threads(t)
			}
			for _, tid := range tids {
				tgkill(tid)
			}
			time.Sleep(50 * time.Microsecond)
		}
	})
	t.Cleanup(func() { stop.Store(true); group.Wait() })
}

func threads(t *testing.T) []int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	var tids []int
	for _, e := range all {
		n := 0
		for _, c := range e.Name() {
			n = n*10 + int(c-'0')
		}
		tids = append(tids, n)
	}
	return tids
}

func TestNothingIsLostInAStormOfSignals(t *testing.T) {
	const blocks, size = 64, 4096
	onEach(t, func(t *testing.T, r *Ring) {
		f := numbered(t, blocks, size)
		p := pipe(t)
		storm(t)
		buf := make([]byte, size)
		for i := range 300 {
			off := int64(i%blocks) * size
			if n := one(t, r, func(s Slot) { r.Read(s, FD(f.Fd()), buf, off) }); n != size || !right(buf, off) {
				t.Fatal(i, n)
			}
			if n := one(t, r, func(s Slot) { r.Timeout(s, 100*time.Microsecond) }); n != -int32(errTIME) {
				t.Fatal(i, n)
			}
			// A read of an empty pipe waits in the kernel, and must not end by EINTR.
			s, _ := r.Take()
			r.Read(s, FD(p.r.Fd()), buf[:1], -1)
			require.NoError(t, r.Submit())
			_, err := p.w.Write([]byte{1})
			require.NoError(t, err)
			if c := wait(t, r, s); c.Res != 1 {
				t.Fatal(i, c)
			}
		}
		start := time.Now()
		s, _ := r.Take()
		r.Read(s, FD(p.r.Fd()), buf[:1], -1)
		require.NoError(t, r.Enter(All, 1, 50*time.Millisecond))
		if took := time.Since(start); took < 50*time.Millisecond || took > 5*time.Second {
			t.Errorf("a wait of 50 ms took %v", took)
		}
		require.NoError(t, r.Close(10*time.Second, nil))
	})
}

func tgkill(tid int) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(tid), uintptr(syscall.SIGURG))
}
