package pool_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// To cancel one reader closes the file, or interrupts the threads, of all who share it.
func TestACancelledCallHarmsNobodyOnTheSameFile(t *testing.T) {
	rules := lane.AbandoningConfig{Config: lane.Config{Workers: 4}, Interrupt: true, Grace: time.Minute}
	if l, err := lane.NewAbandoning(rules); errors.Is(err, ioerr.ErrUnsupported) {
		rules.Interrupt, rules.Grace = false, lane.NoGrace // then it is left
	} else if err == nil {
		require.NoError(t, l.Shutdown(bg))
	}
	p, _ := abandons(t, pool.Config[fd]{Dispose: closeFD}, rules)
	var pipe [2]int
	require.NoError(t, syscall.Pipe2(pipe[:], syscall.O_CLOEXEC))
	var ids []handle.ID
	for range 2 {
		n, err := syscall.Dup(pipe[0])
		require.NoError(t, err)
		ids = append(ids, adopt(t, p, fd(n)))
	}
	began := newGate()
	read := func(ctx context.Context, id handle.ID) error {
		return second(pool.OffloadOn(ctx, p, id, func(ctx context.Context, n fd) (int, error) {
			began.reached <- struct{}{}
			for {
				got, err := syscall.Read(int(n), make([]byte, 1))
				if !errors.Is(err, syscall.EINTR) {
					return got, err
				}
				if ctx.Err() != nil {
					return 0, err
				}
			}
		}))
	}
	beside := start(func() error { return read(bg, ids[1]) })
	began.await(t, 1)
	for range rounds(50, 2000) {
		ctx, cancel := context.WithCancel(bg)
		cancelled := start(func() error { return read(ctx, ids[0]) })
		began.await(t, 1)
		cancel()
		if err := <-cancelled; !errors.Is(err, syscall.EINTR) && !wasLeft(err) {
			t.Fatal(err)
		}
		if !rules.Interrupt {
			break // its handle is busy now
		}
	}
	select {
	case err := <-beside:
		t.Errorf("the other reader got %v", err)
	default:
	}
	_, err := syscall.Write(pipe[1], []byte("xx")) // also for one that was left
	require.NoError(t, err)
	succeeds(t, <-beside)
	closes(t, p) // without an error: no close said EBADF
	require.NoError(t, errors.Join(syscall.Close(pipe[0]), syscall.Close(pipe[1])))
}
