package file_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// parts is where a file has data, as NextData tells.
func parts(t *testing.T, f *file.File) (all [][2]int64) {
	t.Helper()
	for off := int64(0); ; {
		start, end, err := f.NextData(t.Context(), off)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		require.GreaterOrEqual(t, start, off)
		require.Greater(t, end, start)
		all, off = append(all, [2]int64{start, end}), end
	}
}

// Law: between the parts with data there are but zeros.
func TestNextDataPassesOverHolesOnly(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx, name := t.Context(), filepath.Join(t.TempDir(), "f")
		f := create(t, p, name, nil)
		require.Empty(t, parts(t, f), "an empty file")
		const size = 4<<20 + 100
		require.NoError(t, f.Truncate(ctx, size))
		for _, off := range []int64{1<<20 + 17, 3 << 20} {
			_, err := f.WriteAt(ctx, []byte("data"), off)
			require.NoError(t, err)
		}
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		total := int64(0)
		for _, part := range parts(t, f) {
			clear(content[part[0]:part[1]])
			total += part[1] - part[0]
		}
		require.Equal(t, make([]byte, size), content, "data in a hole")
		if runtime.GOOS == "linux" && total > size/2 {
			t.Skip("a file system without holes")
		}
		for _, off := range []int64{size, size + 1, 1 << 40} {
			_, _, err := f.NextData(ctx, off)
			require.Equal(t, io.EOF, err, off)
		}
		_, _, err = f.NextData(ctx, -1)
		require.ErrorIs(t, err, ioerr.ErrInvalid)
		ops := []file.Op{file.NextData(f, 0), file.NextData(f, 3<<20)}
		require.NoError(t, p.DoAll(ctx, ops))
		require.NotZero(t, ops[0].N)
		require.EqualValues(t, 3<<20, ops[1].N)
		require.Greater(t, ops[1].More.Off2, ops[1].N)
	})
}

func TestAPipeHasNoHoles(t *testing.T) {
	p := newPool(t, file.Config{})
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	f, err := p.Adopt(r)
	require.NoError(t, err)
	_, _, err = f.NextData(t.Context(), 0)
	e, ok := errors.AsType[*os.PathError](err)
	require.True(t, ok && e.Op == "seek", err)
}

func TestModeAndTimesAreSet(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx, name := t.Context(), filepath.Join(t.TempDir(), "f")
		f := create(t, p, name, []byte("content"))
		require.NoError(t, f.Chmod(ctx, 0o400))
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o222)
		require.NoError(t, f.Chmod(ctx, 0o600))

		then := time.Date(2001, 2, 3, 4, 5, 6, 7000, time.UTC)
		require.NoError(t, f.SetTimes(ctx, time.Time{}, then))
		got, err := f.Stat(ctx)
		require.NoError(t, err)
		require.True(t, got.ModTime.Equal(then), got.ModTime)
		require.NoError(t, f.SetTimes(ctx, then.Add(time.Hour), time.Time{}))
		require.NoError(t, f.SetTimes(ctx, time.Time{}, time.Time{}))
		got, err = f.Stat(ctx)
		require.NoError(t, err)
		require.True(t, got.ModTime.Equal(then), "it stays as it is: %v", got.ModTime)
		require.NoError(t, f.SetTimes(ctx, time.Time{}, time.Unix(-1, 0)))
		err = f.SetTimes(ctx, time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), then)
		e, ok := errors.AsType[*ioerr.ArgumentError](err)
		require.True(t, ok && e.Name == "accessed", err)
	})
}

func TestTheSameFileIsTheSameByAnyName(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx, dir := t.Context(), t.TempDir()
		a, b := create(t, p, filepath.Join(dir, "a"), nil), create(t, p, filepath.Join(dir, "b"), nil)
		require.NoError(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "c")))
		first, err := a.Stat(ctx)
		require.NoError(t, err)
		other, err := b.Stat(ctx)
		require.NoError(t, err)
		linked, err := p.Stat(ctx, filepath.Join(dir, "c"))
		require.NoError(t, err)
		require.True(t, file.SameFile(first, linked))
		require.False(t, file.SameFile(first, other))
	})
}
