//go:build amd64 || arm64

package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// blockedIn waits until a thread of the process is blocked in this system call.
func blockedIn(t *testing.T, number int) {
	t.Helper()
	want := strconv.Itoa(number) + " "
	require.Eventually(t, func() bool {
		runtime.LockOSThread() // itself is in read
		defer runtime.UnlockOSThread()
		tasks, _ := filepath.Glob("/proc/self/task/*/syscall")
		return slices.ContainsFunc(tasks, func(task string) bool {
			at, _ := os.ReadFile(task)
			return strings.HasPrefix(string(at), want) && !strings.Contains(task, "/"+strconv.Itoa(syscall.Gettid())+"/")
		})
	}, 10*time.Second, 100*time.Microsecond)
}

// blockedInRead waits until a read of the pool is blocked in the kernel.
func blockedInRead(t *testing.T, k kind) {
	t.Helper()
	if k.ring {
		blockedIn(t, 426) // io_uring_enter
		return
	}
	blockedIn(t, syscall.SYS_READ)
}

// fifo opens both ends of a FIFO: reads from f block until peer is written to.
func fifo(t *testing.T, p *file.Pool) (f *file.File, peer *os.File) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	peer, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { peer.Close() })
	f, err = p.Open(t.Context(), name, os.O_RDONLY, 0)
	require.NoError(t, err)
	return f, peer
}

// cancelled checks the error of an operation that was called off.
func cancelled(t *testing.T, err, why error) {
	t.Helper()
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok || e.Outcome != ioerr.Cancelled || e.Effect != ioerr.None || !errors.Is(err, why) {
		t.Errorf("called off: %v", err)
	}
}

func left(t *testing.T, err, why error) {
	t.Helper()
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok || e.Effect != ioerr.Unknown || !errors.Is(err, ioerr.ErrLeft) || !errors.Is(err, why) {
		t.Errorf("left: %v", err)
	}
}

func TestABlockedReadEndsAsItsLaneAllows(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		f, peer := fifo(t, p)
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		buf := make([]byte, 1)
		ended := start(func() error {
			_, err := f.Read(ctx, buf)
			return err
		})
		blockedInRead(t, k)
		cancel(why)
		switch {
		case k.interrupts || k.ring:
			cancelled(t, <-ended, why)
			_, err := peer.WriteString("x")
			require.NoError(t, err)
			_, err = f.Read(t.Context(), buf) // what came later is still there
			require.NoError(t, err)
		case k.leaves:
			left(t, <-ended, why)
			_, err := peer.WriteString("x") // for the one that was left
			require.NoError(t, err)
			return // buf is that one's
		default:
			_, err := peer.WriteString("x")
			require.NoError(t, err)
			require.NoError(t, <-ended) // what has happened is never called cancelled
		}
		require.Equal(t, "x", string(buf))
	})
}

func TestABlockedOpenEndsAsItsLaneAllows(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		name := filepath.Join(t.TempDir(), "fifo")
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		var f *file.File
		ended := start(func() (err error) {
			f, err = p.Open(ctx, name, os.O_RDONLY, 0)
			return err
		})
		blockedIn(t, syscall.SYS_OPENAT)
		cancel(why)
		if k.interrupts {
			cancelled(t, <-ended, why)
			s := p.Pool().Stats()
			require.Zero(t, s.Handles)
			require.Equal(t, []uint64{0, 1, 0}, []uint64{s.Failed, s.Cancelled, s.Ran})
			return
		}
		if k.leaves {
			left(t, <-ended, why)
		}
		peer, err := os.OpenFile(name, os.O_WRONLY, 0)
		require.NoError(t, err)
		defer peer.Close()
		if k.leaves { // the file that nobody gets is closed
			require.Eventually(t, func() bool { return p.Pool().Stats().Disposed == 1 }, 10*time.Second, time.Millisecond)
			return
		}
		require.NoError(t, <-ended)
		require.NoError(t, f.Close(t.Context()))
	})
}

func TestCloseWaitsForWhatRunsAndRefusesTheRest(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		f, peer := fifo(t, p)
		buf := make([]byte, 1)
		read := start(func() error {
			_, err := f.Read(context.Background(), buf)
			return err
		})
		blockedInRead(t, k)
		closed := start(func() error { return f.Close(context.Background()) })
		require.Eventually(t, func() bool { return !p.Pool().Has(f.ID()) }, 10*time.Second, 100*time.Microsecond)
		_, err := f.Read(t.Context(), make([]byte, 1))
		require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
		_, err = peer.WriteString("x")
		require.NoError(t, err)
		require.NoError(t, <-read)
		require.Equal(t, "x", string(buf))
		require.NoError(t, <-closed)
	})
}

func TestShutdownGivesUpOnWhatIsBlocked(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		f, peer := fifo(t, p)
		read := start(func() error {
			_, err := f.Read(context.Background(), make([]byte, 1))
			return err
		})
		blockedInRead(t, k)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, p.Shutdown(now))
		if !k.interrupts && !k.leaves && !k.ring {
			_, err := peer.WriteString("x")
			require.NoError(t, err)
			require.NoError(t, <-read)
		} else {
			err := <-read
			require.ErrorIs(t, err, ioerr.ErrShutdown)
			_, err = peer.WriteString("x")
			require.NoError(t, err)
		}
		require.NoError(t, p.Close())
		_, err := f.Read(t.Context(), make([]byte, 1))
		require.ErrorIs(t, err, ioerr.ErrShutdown)
	})
}

func TestLocksOfTwoOpeningsContend(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		ctx, name := t.Context(), filepath.Join(t.TempDir(), "f")
		one := create(t, p, name, numbered(2))
		two, err := p.Open(ctx, name, os.O_RDWR, 0)
		require.NoError(t, err)

		require.NoError(t, one.Lock(ctx, file.Exclusive))
		require.ErrorIs(t, two.Lock(ctx, file.Exclusive|file.NoWait), syscall.EWOULDBLOCK)
		waits := start(func() error { return two.Lock(context.Background(), file.Shared) })
		blockedIn(t, syscall.SYS_FLOCK)
		require.NoError(t, one.Unlock(ctx))
		require.NoError(t, <-waits)
		require.NoError(t, one.Lock(ctx, file.Shared|file.NoWait))
		require.NoError(t, one.Unlock(ctx))
		require.NoError(t, two.Unlock(ctx))

		require.NoError(t, one.LockRange(ctx, file.Exclusive, 0, 4096))
		require.NoError(t, two.LockRange(ctx, file.Exclusive|file.NoWait, 4096, 0))
		err = two.LockRange(ctx, file.Exclusive|file.NoWait, 4000, 100)
		require.ErrorIs(t, err, syscall.EWOULDBLOCK)
		require.NoError(t, one.UnlockRange(ctx, 0, 0))
		require.NoError(t, two.LockRange(ctx, file.Exclusive|file.NoWait, 4000, 100))

		if k.interrupts {
			ctx, cancel := context.WithCancel(ctx)
			waits := start(func() error { return one.LockRange(ctx, file.Exclusive, 0, 0) })
			blockedIn(t, syscall.SYS_FCNTL)
			cancel()
			cancelled(t, <-waits, context.Canceled)
		}
	})
}
