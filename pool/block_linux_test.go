package pool_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nap blocks the thread in the kernel, for that is what lanes are about: time.Sleep
// would only park the goroutine.
func nap(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

// barrier blocks its callers' threads in read(2) on an empty pipe until it is
// opened.
type barrier struct {
	r, w    int
	reached chan struct{}
}

func newBarrier(t testing.TB) *barrier {
	var fds [2]int
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC))
	t.Cleanup(func() { _ = syscall.Close(fds[0]) })
	return &barrier{fds[0], fds[1], make(chan struct{}, 1<<14)}
}

func (b *barrier) stay() {
	b.reached <- struct{}{}
	var buf [1]byte
	for {
		if _, err := syscall.Read(b.r, buf[:]); err != syscall.EINTR {
			return
		}
	}
}

// open lets everybody through: read finds the other end closed.
func (b *barrier) open() { _ = syscall.Close(b.w) }
