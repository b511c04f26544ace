package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
)

// Law: a file system in memory does direct I/O, right, or refuses it, typed (kernels differ); with TryDirect
// there is a file either way.
func TestDirectIOInMemoryWorksOrIsRefused(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "direct") //nolint:usetesting // that of the test is on a disk
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	var st syscall.Statfs_t
	require.NoError(t, syscall.Statfs(dir, &st))
	if st.Type != 0x01021994 {
		t.Skip("no tmpfs")
	}
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		ctx := t.Context()
		b := newBuffers(t, 2, 8192)
		transfers := func(f *file.File) {
			t.Helper()
			buf, got := get(t, b), get(t, b)
			defer b.Put(buf)
			defer b.Put(got)
			copy(buf, noise(8192))
			_, err := f.WriteAt(ctx, buf, 4096)
			require.NoError(t, err)
			n, err := f.ReadAt(ctx, got, 4096)
			require.NoError(t, err)
			require.Equal(t, buf, got[:n])
			odd := make([]byte, 1001)[1:]
			_, err = f.ReadAt(ctx, odd, 5000)
			require.NoError(t, err)
			require.Equal(t, buf[5000-4096:][:1000], odd)
			require.NoError(t, f.Close(ctx))
		}
		f, err := p.Open(ctx, filepath.Join(dir, k.name), os.O_RDWR|os.O_CREATE|file.Direct, 0o600)
		direct := err == nil
		if direct {
			require.True(t, f.Direct())
			transfers(f)
		} else {
			path, ok := errors.AsType[*fs.PathError](err)
			if !ok || path.Op != "open" || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
			}
		}
		f, err = p.Open(ctx, filepath.Join(dir, k.name+"-try"), os.O_RDWR|os.O_CREATE|os.O_EXCL|file.TryDirect, 0o600)
		require.NoError(t, err)
		require.Equal(t, direct, f.Direct())
		transfers(f)
		t.Log("direct: ", direct)
	})
}

// Law: of a file in memory a lane with a ring reads what is there, whether the kernel tells what is cached or not.
func TestFilesInMemoryOnARing(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "ring") //nolint:usetesting // as above
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	for _, noInline := range []bool{false, true} {
		l, err := lane.NewRing(lane.RingConfig{NoInline: noInline})
		require.NoError(t, err)
		p := newPool(t, file.Config{Lane: l, OwnsLane: true})
		want := noise(100_000)
		f := create(t, p, filepath.Join(dir, "f"), want)
		for off := int64(0); off < 100_000; off += 1000 {
			buf := make([]byte, 1000)
			_, err := f.ReadAt(t.Context(), buf, off)
			require.NoError(t, err)
			require.Equal(t, want[off:][:1000], buf)
		}
	}
}
