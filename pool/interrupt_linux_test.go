package pool_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: when a shutdown gives up, calls blocked in the kernel are interrupted where the
// lane can do that; the next one finishes the job.
func TestAShutdownThatGivesUpInterruptsSystemCalls(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Interrupt: true, Grace: 10 * time.Second, CallLimit: lane.NoLimit})
	if errors.Is(err, ioerr.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
	id := adopt(t, p, 1)
	var ends [2]int
	require.NoError(t, syscall.Pipe2(ends[:], syscall.O_CLOEXEC))
	defer func() { _ = errors.Join(syscall.Close(ends[0]), syscall.Close(ends[1])) }()
	began := make(chan struct{})
	call := start(func() error {
		return second(pool.OffloadOn(bg, p, id, func(ctx context.Context, _ int) (int, error) {
			close(began)
			for {
				n, err := syscall.Read(ends[0], make([]byte, 1))
				if !errors.Is(err, syscall.EINTR) || ctx.Err() != nil {
					return n, err
				}
			}
		}, pool.Label("read")))
	})
	<-began
	report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, 50*time.Millisecond)))
	if !ok || len(report.Running) != 1 || report.Running[0].Label != "read" || report.Running[0].Age == 0 {
		t.Errorf("%v", report)
	}
	require.ErrorIs(t, <-call, syscall.EINTR)
	closes(t, p)
}
