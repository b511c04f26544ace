package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
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
	defer l.Shutdown(context.Background())
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
