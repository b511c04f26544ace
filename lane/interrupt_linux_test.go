package lane_test

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// reading is a call that reads from an empty pipe until its context has ended.
type reading struct {
	ctx     context.Context
	fd      int
	stupid  bool // does not look at its context
	entered chan struct{}
	got     error
	ends    atomic.Int32
}

func (r *reading) Run(lane.Thread) {
	close(r.entered)
	for {
		if _, r.got = syscall.Read(r.fd, make([]byte, 1)); !errors.Is(r.got, syscall.EINTR) || !r.stupid && r.ctx.Err() != nil {
			return
		}
	}
}
func (r *reading) Ending(error)       {}
func (r *reading) Left(time.Duration) {}
func (r *reading) End(bool, error)    { r.ends.Add(1) }

func pipe(t testing.TB) (read, write int) {
	t.Helper()
	var p [2]int
	require.NoError(t, syscall.Pipe2(p[:], syscall.O_CLOEXEC))
	return p[0], p[1]
}

// Law: a blocked call that is interrupted ends, and is received by its caller with what
// really happened; it is not left, and its neighbour is not hit.
func TestAnInterruptedCallEndsAndIsReceived(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 4}, Interrupt: true, Grace: 10 * time.Second})
	if errors.Is(err, errors.ErrUnsupported) {
		require.ErrorIs(t, err, ioerr.ErrUnsupported)
		t.Skip(err)
	}
	require.NoError(t, err)
	fd, w := pipe(t)
	defer func() { require.NoError(t, errors.Join(syscall.Close(w), syscall.Close(fd))) }()
	other, otherEnd := pipe(t)
	neighbour := &reading{ctx: t.Context(), fd: other, entered: make(chan struct{})}
	beside := carry(t.Context(), l, lane.Call{}, neighbour)
	<-neighbour.entered
	for i := range count(200, 10_000) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &reading{ctx: ctx, fd: fd, entered: make(chan struct{})}
		if i%2 == 0 {
			go func() { <-r.entered; cancel() }()
		} else {
			go func() { <-r.entered; time.Sleep(time.Millisecond); cancel() }() // it is in the kernel by now
		}
		require.NoError(t, l.Carry(ctx, lane.Call{}, r))
		require.ErrorIs(t, r.got, syscall.EINTR)
		require.EqualValues(t, 1, r.ends.Load())
	}
	if s := l.Stats(); s.LeftTotal != 0 || s.Running != 1 {
		t.Errorf("%+v", s)
	}
	require.NoError(t, syscall.Close(otherEnd))
	require.NoError(t, <-beside)
	require.NoError(t, neighbour.got)
	require.NoError(t, syscall.Close(other))
	shut(t, l)
}

// A call that will not be interrupted is left after the grace, also by the limit.
func TestACallThatIsNotToBeInterruptedIsLeft(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Interrupt: true, Grace: 20 * time.Millisecond, CallLimit: 20 * time.Millisecond})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	fd, w := pipe(t)
	r := &reading{ctx: t.Context(), fd: fd, stupid: true, entered: make(chan struct{})}
	err = l.Carry(t.Context(), lane.Call{}, r)
	left, ok := errors.AsType[*ioerr.LeftError](err)
	if !ok || left.Age < 40*time.Millisecond || left.Cause != ioerr.ErrCallLimit {
		t.Errorf("%v", err)
	}
	require.NoError(t, syscall.Close(w))
	shut(t, l)
	require.EqualValues(t, 1, r.ends.Load())
	require.NoError(t, syscall.Close(fd))
}
