package file

import (
	"context"
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

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// inRead reports whether another thread than the caller's is in read(2).
func inRead() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tasks, _ := filepath.Glob("/proc/self/task/*/syscall")
	return slices.ContainsFunc(tasks, func(task string) bool {
		at, _ := os.ReadFile(task)
		call, _, _ := strings.Cut(string(at), " ")
		return call == strconv.Itoa(syscall.SYS_READ) && !strings.Contains(task, "/"+strconv.Itoa(syscall.Gettid())+"/")
	})
}

// A file with offsets whose reads hang is not to be had; so a FIFO stands in for one.
func TestATransferThatIsLeftGivesItsBufferBackWhenItEnds(t *testing.T) {
	for _, lent := range []bool{true, false} {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{})
		require.NoError(t, err)
		p, err := NewPool(Config{Lane: l, OwnsLane: true})
		require.NoError(t, err)
		defer p.Close()
		name := filepath.Join(t.TempDir(), "fifo")
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		peer, err := os.OpenFile(name, os.O_RDWR, 0)
		require.NoError(t, err)
		defer peer.Close()
		f, err := p.Open(t.Context(), name, os.O_RDONLY, 0)
		require.NoError(t, err)
		f.file.Seeks = true

		b, err := NewBuffers(BuffersConfig{Count: 2, Size: 4096})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		c := StreamConfig{BufferSize: 4096}
		if lent {
			c.Buffers = b
		}
		r, err := NewReader(ctx, f, c)
		require.NoError(t, err)
		hangs := r.s.take()
		hangs.op = Read(f, hangs.buf)
		r.s.start(hangs, true)
		require.Eventually(t, inRead, 10*time.Second, time.Millisecond)
		cancel()
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, r.Close())
		require.True(t, wasLeft(hangs.err))
		require.ErrorIs(t, hangs.err, ioerr.ErrLeft)
		if lent {
			require.Equal(t, 1, b.Out())
			require.ErrorIs(t, b.Close(), ErrBuffersOut)
		}
		_, err = peer.WriteString("x")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return b.Out() == 0 }, 10*time.Second, time.Millisecond)
		require.NoError(t, b.Close())
	}
}

// Law: a Reader whose last buffer is with a transfer that was left says so.
func TestAReaderWithoutABufferSaysSo(t *testing.T) {
	p, err := NewPool(Config{})
	require.NoError(t, err)
	defer p.Close()
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, []byte("content"), 0o600))
	f, err := p.Open(t.Context(), name, os.O_RDONLY, 0)
	require.NoError(t, err)
	b, err := NewBuffers(BuffersConfig{Count: 1, Size: 4096})
	require.NoError(t, err)
	r, err := NewReader(t.Context(), f, StreamConfig{Buffers: b, Depth: 1})
	require.NoError(t, err)
	lost := r.s.spare[0].buf
	r.s.spare, r.s.made = nil, 0
	for range 2 {
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, ioerr.ErrLeft)
	}
	require.NoError(t, r.Close())
	b.Put(lost)
	require.NoError(t, b.Close())
}
