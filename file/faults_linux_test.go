//go:build amd64 || arm64

package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: where there are no offsets an offset is refused, as by pread(2), on each lane.
func TestWhatHasNoOffsetsRefusesThem(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		from, err := p.Adopt(r)
		require.NoError(t, err)
		to, err := p.Adopt(w)
		require.NoError(t, err)
		_, err = to.Write(t.Context(), []byte("abc"))
		require.NoError(t, err)
		ops := []file.Op{
			file.ReadAt(from, make([]byte, 1), 0), file.Pread(from, make([]byte, 1), 5), file.Readv(from, [][]byte{make([]byte, 1)}, 0),
			file.WriteAt(to, []byte("x"), 0), file.Pwrite(to, []byte("x"), 0), file.Writev(to, [][]byte{[]byte("x")}, 0),
		}
		for i := range ops {
			if err := p.Do(t.Context(), &ops[i]); !errors.Is(err, syscall.ESPIPE) {
				t.Errorf("%d: %v", i, err)
			}
		}
		_ = p.DoAll(t.Context(), ops)
		for i := range ops {
			if !errors.Is(ops[i].Err, syscall.ESPIPE) {
				t.Errorf("%d: %v", i, ops[i].Err)
			}
		}
		buf := make([]byte, 9)
		n, err := from.Read(t.Context(), buf)
		require.NoError(t, err)
		require.Equal(t, "abc", string(buf[:n]))
	})
}

// Law: what was opened not to block does not, on any lane.
func TestWhatWasOpenedNotToBlockDoesNot(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		name := filepath.Join(t.TempDir(), "fifo")
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		f, err := p.Open(t.Context(), name, os.O_RDWR|syscall.O_NONBLOCK, 0)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = f.Read(ctx, make([]byte, 1))
		require.ErrorIs(t, err, syscall.EAGAIN)
		n, err := f.Write(ctx, make([]byte, 1<<20))
		require.ErrorIs(t, err, syscall.EAGAIN)
		require.Positive(t, n)
	})
}

// Law: more pieces than the kernel takes at a time say nothing about what a ring can do.
func TestMorePiecesThanTheKernelTakesAreForTheRingAllTheSame(t *testing.T) {
	l, err := lane.NewRing(lane.RingConfig{})
	require.NoError(t, err)
	p := newPool(t, file.Config{Lane: l, OwnsLane: true})
	if l.Stats().Ring.Rings == 0 {
		t.Skip("no ring here")
	}
	data := numbered(2)
	f := create(t, p, filepath.Join(t.TempDir(), "f"), data)
	pieces := make([][]byte, 3000)
	for i := range pieces {
		pieces[i] = make([]byte, i%3) // some are empty
	}
	before := l.Stats().Ring
	n, err := f.Readv(t.Context(), pieces, 0)
	require.NoError(t, err)
	require.EqualValues(t, 3000, n)
	var got []byte
	for _, b := range pieces {
		got = append(got, b...)
	}
	require.Equal(t, data[:3000], got)
	after := l.Stats().Ring
	require.Equal(t, before.Threads, after.Threads)
	require.Equal(t, before.Fallback, after.Fallback)
}

// Law: what a pool has from others is given back with the last file, also if that could not
// be closed.
func TestWhatIsOthersIsGivenBackAlsoIfAFileCouldNotBeClosed(t *testing.T) {
	l, err := lane.NewRing(lane.RingConfig{})
	require.NoError(t, err)
	defer func() { _ = l.Shutdown(context.Background()) }()
	b, err := file.NewBuffers(file.BuffersConfig{Count: 1, Size: 4096})
	require.NoError(t, err)
	defer b.Close()
	p, err := file.NewPool(file.Config{Lane: l, Buffers: b, Interrupt: true})
	require.NoError(t, err)
	if l.Stats().Ring.Registered == 0 {
		t.Skip("nothing can be registered here")
	}
	o, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	_, err = p.Adopt(o)
	require.NoError(t, err)
	require.NoError(t, o.Close())
	require.ErrorIs(t, p.Close(), os.ErrClosed)
	require.Zero(t, l.Stats().Ring.Registered)
}

// Law: an operation that the lane's limit has ended says so, and does not speak of a
// shutdown.
func TestALimitIsNoShutdown(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{CallLimit: 20 * time.Millisecond, Grace: 10 * time.Second})
	require.NoError(t, err)
	p := newPool(t, file.Config{Lane: l, OwnsLane: true, Interrupt: true})
	f, _ := fifo(t, p)
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	_, opening := p.Open(t.Context(), name, os.O_RDONLY, 0)
	for what, err := range map[string]error{
		"do":    func() error { _, err := f.Read(t.Context(), make([]byte, 1)); return err }(),
		"doall": p.DoAll(t.Context(), []file.Op{file.Read(f, make([]byte, 1))}),
		"open":  opening,
	} {
		e, ok := errors.AsType[*ioerr.Error](err)
		if !ok || e.Outcome != ioerr.TimedOut || e.Effect != ioerr.None || !errors.Is(err, ioerr.ErrCallLimit) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Law: what a shutdown calls off says so, also to callers whose context ends with it.
func TestAShutdownIsNoCancellation(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		if !k.interrupts {
			return
		}
		f, _ := fifo(t, p)
		name := filepath.Join(t.TempDir(), "fifo")
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		var errs []<-chan error
		for _, do := range []func(context.Context) error{
			func(ctx context.Context) error { _, err := f.Read(ctx, make([]byte, 1)); return err },
			func(ctx context.Context) error { return p.DoAll(ctx, []file.Op{file.Read(f, make([]byte, 1))}) },
			func(ctx context.Context) error { _, err := p.Open(ctx, name, os.O_RDONLY, 0); return err },
		} {
			errs = append(errs, start(func() (err error) {
				return errors.Join(p.Fiber(context.Background(), func(ctx context.Context) error {
					err = do(ctx)
					return nil
				}), err)
			}))
		}
		blockedIn(t, syscall.SYS_OPENAT)
		blockedInRead(t, k)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, p.Shutdown(now))
		for i, c := range errs {
			err := <-c
			if e, ok := errors.AsType[*ioerr.Error](err); !ok || e.Outcome != ioerr.ShutdownInProgress || e.Effect != ioerr.None {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}

// Law: what refuses many operations is told by each of them.
func TestWhatRefusesManyOperationsIsToldByEach(t *testing.T) {
	p := newPool(t, file.Config{})
	f := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("abc"))
	ops := []file.Op{file.ReadAt(f, make([]byte, 3), 0), file.ReadAt(f, nil, -1), file.ReadAt(f, make([]byte, 3), 0)}
	err := p.DoAll(t.Context(), ops)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	for i := range ops {
		if ops[i].Err != err || ops[i].N != 0 {
			t.Errorf("%d: %d, %v", i, ops[i].N, ops[i].Err)
		}
	}
}

// Law: an operation that the lane's limit has ended says so, also while the pool shuts down.
func TestALimitIsNoShutdownAlsoWhileThereIsOne(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 4}, CallLimit: 50 * time.Millisecond, Grace: 10 * time.Second})
	require.NoError(t, err)
	p := newPool(t, file.Config{Lane: l, OwnsLane: true, Interrupt: true})
	f, _ := fifo(t, p)
	ops := []file.Op{file.Read(f, make([]byte, 1)), file.Sleep(time.Hour)}
	ended := start(func() error { return p.DoAll(context.Background(), ops) })
	for p.Pool().Stats().Lane.Running < len(ops) && len(ended) == 0 {
		runtime.Gosched()
	}
	down := start(func() error { return p.Shutdown(context.Background()) })
	require.Eventually(t, func() bool { return p.Pool().Stats().State != pool.Open }, 10*time.Second, time.Millisecond)
	require.Error(t, <-ended)
	for _, op := range ops {
		e, ok := errors.AsType[*ioerr.Error](op.Err)
		if !ok || e.Outcome != ioerr.TimedOut || e.Effect != ioerr.None || !errors.Is(op.Err, ioerr.ErrCallLimit) {
			t.Error(op.Err)
		}
	}
	require.NoError(t, <-down)
}
