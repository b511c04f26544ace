//go:build amd64 || arm64

package file_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

const memlockVar = "IOLANE_FILE_MEMLOCK"

// Law: of a user who may not lock as much memory as there is in Buffers all transfers are right, and Stats says
// that none of it is registered.
func TestBuffersServeAUserWhoMayLockLittleMemory(t *testing.T) {
	if os.Getenv(memlockVar) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), memlockVar+"=1", "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const rlimitMemlock = 8
	require.NoError(t, syscall.Setrlimit(rlimitMemlock, &syscall.Rlimit{Cur: 256 << 10, Max: 256 << 10}))
	if os.Getuid() == 0 { // who may lock as much as he likes
		require.NoError(t, syscall.Setgid(65534))
		require.NoError(t, syscall.Setuid(65534))
	}
	const size, blocks = 1 << 20, 8
	l, err := lane.NewRing(lane.RingConfig{Config: lane.Config{Workers: 4}})
	require.NoError(t, err)
	b, err := file.NewBuffers(file.BuffersConfig{Count: 4, Size: size})
	require.NoError(t, err)
	p := newPool(t, file.Config{Lane: l, OwnsLane: true, Buffers: b})
	t.Log(l.Stats().Ring.Rings, "rings, ", l.Stats().Ring.Reason)
	require.Zero(t, l.Stats().Ring.Registered)

	want := noise(blocks * size)
	f, err := p.Open(t.Context(), filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE|file.TryDirect, 0o600)
	require.NoError(t, err)
	var all sync.WaitGroup
	each := func(do func(buf []byte, part []byte, off int64)) {
		for i := range blocks {
			all.Go(func() {
				buf, err := b.Get(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				defer b.Put(buf)
				do(buf, want[i*size:][:size], int64(i*size))
			})
		}
		all.Wait()
	}
	each(func(buf, part []byte, off int64) {
		copy(buf, part)
		if _, err := f.WriteAt(context.Background(), buf, off); err != nil {
			t.Error(err)
		}
	})
	each(func(buf, part []byte, off int64) {
		if _, err := f.ReadAt(context.Background(), buf, off); err != nil || string(buf) != string(part) {
			t.Errorf("%d: other data, %v", off, err)
		}
	})
	require.Zero(t, l.Stats().Ring.Registered)
	require.NoError(t, p.Close())
	require.NoError(t, b.Close())
}

// Law: memory in which a transfer is in flight stays: Close says so, by type, and gives it back when all
// buffers are back.
func TestBuffersStayAsLongAsATransferUsesThem(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "inline" { // one goroutine does all
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			l, err := k.make()
			require.NoError(t, err)
			b, err := file.NewBuffers(file.BuffersConfig{Count: 2, Size: 4096})
			require.NoError(t, err)
			p := newPool(t, file.Config{Lane: l, OwnsLane: true, Interrupt: k.interrupts, Buffers: b})
			f, peer := fifo(t, p)
			buf, err := b.Get(t.Context())
			require.NoError(t, err)
			n := 0
			ended := start(func() (err error) {
				n, err = f.Read(context.Background(), buf)
				return err
			})
			running(t, p, 1)
			for range 3 {
				err := b.Close()
				e, ok := errors.AsType[*file.BuffersError](err)
				require.True(t, ok, "%v", err)
				require.ErrorIs(t, err, file.ErrBuffersOut)
				require.Equal(t, 1, e.Out)
			}
			_, err = peer.WriteString("into the buffer")
			require.NoError(t, err)
			require.NoError(t, <-ended)
			require.Equal(t, "into the buffer", string(buf[:n]))
			b.Put(buf)
			require.NoError(t, b.Close())
			require.NoError(t, p.Close())
		})
	}
}

// Law: what was left keeps its buffer: Close says that it is out, and the late transfer writes into memory
// that is nobody else's.
func TestBuffersStayAsLongAsALeftTransferUsesThem(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 4}})
	require.NoError(t, err)
	b, err := file.NewBuffers(file.BuffersConfig{Count: 2, Size: 4096})
	require.NoError(t, err)
	p := newPool(t, file.Config{Lane: l, OwnsLane: true, Buffers: b})
	f, peer := fifo(t, p)
	buf, err := b.Get(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := start(func() error { _, err := f.Read(ctx, buf); return err })
	blockedIn(t, syscall.SYS_READ)
	cancel()
	require.ErrorIs(t, <-ended, ioerr.ErrLeft)
	require.ErrorIs(t, b.Close(), file.ErrBuffersOut)
	_, err = peer.WriteString("late")
	require.NoError(t, err)
	require.NoError(t, p.Close()) // waits for it
	require.Equal(t, "late", string(buf[:4]))
	b.Put(buf)
	require.NoError(t, b.Close())
}
