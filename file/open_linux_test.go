package file_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
)

// Law: where direct I/O is refused TryDirect opens the file all the same, and tells so; and
// where it is not it is as Direct.
func TestTryDirectIsDirectWhereThatCanBeHad(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx := t.Context()
		_, err := p.Open(ctx, "/proc/self/comm", os.O_RDONLY|file.Direct, 0)
		require.ErrorIs(t, err, syscall.EINVAL)
		f, err := p.Open(ctx, "/proc/self/comm", os.O_RDONLY|file.TryDirect, 0)
		require.NoError(t, err)
		require.False(t, f.Direct())

		name := filepath.Join(t.TempDir(), "f")
		direct, err := p.Open(ctx, name, os.O_RDWR|os.O_CREATE|file.Direct, 0o600)
		tried, terr := p.Open(ctx, name, os.O_RDWR|os.O_CREATE|file.TryDirect, 0o600)
		require.NoError(t, terr)
		require.Equal(t, err == nil, tried.Direct())
		if err == nil {
			memory, offset := direct.Alignment()
			m, o := tried.Alignment()
			require.Equal(t, []int{memory, offset}, []int{m, o})
		}
		_, err = p.Open(ctx, name, os.O_RDWR|os.O_CREATE|os.O_EXCL|file.TryDirect, 0o600)
		require.ErrorIs(t, err, os.ErrExist)
		buffers, err := file.NewBuffers(file.BuffersConfig{Count: 1, Size: 4096})
		require.NoError(t, err)
		buf, _ := buffers.TryGet()
		_, err = tried.WriteAt(ctx, buf, 0)
		require.NoError(t, err)
		buffers.Put(buf)
		require.NoError(t, buffers.Close())
	})
}

// Law: a device has the number that stat(2) has for it.
func TestADeviceHasItsNumber(t *testing.T) {
	p := newPool(t, file.Config{})
	for _, name := range []string{"/", "/dev/null", "/proc", t.TempDir()} {
		info, err := p.Stat(t.Context(), name)
		require.NoError(t, err)
		want := new(syscall.Stat_t)
		require.NoError(t, syscall.Stat(name, want))
		require.Equal(t, want.Dev, info.Device, name)
	}
}

// Of a pipe the flag of direct I/O means something else.
func TestAPipeIsNotDirect(t *testing.T) {
	p := newPool(t, file.Config{})
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	f, err := p.Open(t.Context(), name, os.O_RDWR|file.TryDirect, 0)
	require.NoError(t, err)
	require.False(t, f.Direct())
	for range 2 { // which would be two packets
		_, err = f.Write(t.Context(), []byte("x"))
		require.NoError(t, err)
	}
	n, err := f.Read(t.Context(), make([]byte, 2))
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

// Law: on a file system without direct I/O TryDirect makes a file, and only one.
func TestTryDirectMakesAFileWhereThereIsNoDirectIO(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("iolane-test", dir, "ramfs", 0, ""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	p := newPool(t, file.Config{})
	const exclusive = os.O_RDWR | os.O_CREATE | os.O_EXCL
	if f, err := p.Open(t.Context(), filepath.Join(dir, "direct"), exclusive|file.Direct, 0o600); err == nil {
		require.NoError(t, f.Close(t.Context()))
		t.Skip("it has direct I/O")
	}
	f, err := p.Open(t.Context(), filepath.Join(dir, "f"), exclusive|file.TryDirect, 0o600)
	require.NoError(t, err)
	require.False(t, f.Direct())
	_, err = f.WriteAt(t.Context(), []byte("x"), 1)
	require.NoError(t, err)
	require.NoError(t, f.Close(t.Context()))
}
