package file_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// Bad input is told by name and value, before anything is done.
func TestWhatMakesNoSenseIsToldByNameAndValue(t *testing.T) {
	p := newPool(t, file.Config{})
	dir := t.TempDir()
	f := create(t, p, filepath.Join(dir, "f"), []byte("content"))
	end, err := p.Open(t.Context(), filepath.Join(dir, "f"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	for _, c := range []struct {
		op    file.Op
		name  string
		value any
	}{
		{file.WriteAt(f, []byte("x"), -5), "off", int64(-5)},
		{file.ReadAt(f, make([]byte, 1), -1), "off", int64(-1)},
		{file.CopyRange(f, -7, f, 0, 1), "dstOff", int64(-7)},
		{file.CopyRange(f, 0, f, -8, 1), "off", int64(-8)},
		{file.CopyRange(f, 0, f, 100, -10), "n", int64(-10)},
		{file.CopyRange(end, 0, f, 0, 1), "dst", end.Name()},
		{file.Truncate(f, -1), "size", int64(-1)},
		{file.Allocate(f, 0, 0, 0), "n", int64(0)},
		{file.Allocate(f, 0, -2, 1), "off", int64(-2)},
		{file.Advise(f, 0, -3, 1), "off", int64(-3)},
		{file.Advise(f, 0, 0, -1), "n", int64(-1)},
		{file.Allocate(f, 0, 0, math.MinInt64), "n", int64(math.MinInt64)},
		{file.Pread(f, nil, -1), "off", int64(-1)},
		{file.Pwrite(f, nil, -2), "off", int64(-2)},
		{file.Readv(f, nil, -3), "off", int64(-3)},
		{file.UnlockRange(f, -1, 1), "off", int64(-1)},
		{file.UnlockRange(f, 0, -1), "n", int64(-1)},
		{file.StatName(""), "name", ""},
		{file.Remove(""), "name", ""},
		{file.RemoveDir(""), "name", ""},
		{file.Mkdir("", 0o700), "name", ""},
		{file.Rename("", "x"), "from", ""},
		{file.Rename("x", ""), "to", ""},
		{file.ReadAt(nil, nil, 0), "f", nil},
		{file.Sync(nil), "f", nil},
		{file.Truncate(nil, 0), "f", nil},
		{file.CopyRange(f, 0, nil, 0, 1), "f", nil},
		{file.CopyRange(nil, 0, f, 0, 1), "dst", nil},
		{file.Stat(nil), "name", ""},
		{file.Lock(f, 99), "mode", file.LockMode(99)},
		{file.Lock(f, 0), "mode", file.LockMode(0)},
		{file.Lock(f, file.NoWait), "mode", file.NoWait},
		{file.Lock(f, file.Shared|file.Exclusive), "mode", file.Shared | file.Exclusive},
		{file.LockRange(f, 99, 0, 1), "mode", file.LockMode(99)},
		{file.LockRange(f, file.Shared, -1, 1), "off", int64(-1)},
		{file.LockRange(f, file.Shared, 0, -1), "n", int64(-1)},
		{file.WriteAt(end, []byte("x"), 0), "off", int64(0)},
		{file.Writev(end, [][]byte{[]byte("x")}, 3), "off", int64(3)},
	} {
		err := p.Do(t.Context(), &c.op)
		e, ok := errors.AsType[*ioerr.ArgumentError](err)
		require.True(t, ok, "%v: %v", c.name, err)
		require.Equal(t, c.name, e.Name)
		require.Equal(t, c.value, e.Value)
	}
	_, err = f.ReadAt(t.Context(), make([]byte, 1), math.MinInt64)
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	_, err = p.Open(t.Context(), "", os.O_RDONLY, 0)
	e, _ := errors.AsType[*ioerr.ArgumentError](err)
	require.Equal(t, &ioerr.ArgumentError{Name: "name", Value: "", Reason: "must not be empty"}, e)
	_, err = file.NewWriter(t.Context(), end, file.StreamConfig{})
	require.ErrorIs(t, err, ioerr.ErrInvalid)
	data := make([]byte, 8)
	n, err := f.ReadAt(t.Context(), data, 0)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "content", string(data[:n]))
	_, err = end.Append(t.Context(), []byte("!"))
	require.NoError(t, err)
	_, err = end.Write(t.Context(), []byte("?"))
	require.NoError(t, err)
	n, _ = f.ReadAt(t.Context(), make([]byte, 20), 0)
	require.Equal(t, len("content!?"), n)
}

// What is only too large, or nothing, is for the system to judge: on every lane alike.
func TestWhatIsTooLargeOrNothingIsForTheSystem(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		f, to := create(t, p, filepath.Join(dir, "f"), []byte("content")), create(t, p, filepath.Join(dir, "to"), nil)
		for i, op := range []file.Op{
			file.ReadAt(f, nil, 0), file.WriteAt(f, nil, 0), file.Append(f, nil), file.Read(f, nil), file.Write(f, nil),
			file.Pread(f, nil, 0), file.Pwrite(f, nil, 0), file.Readv(f, nil, 0), file.Writev(f, nil, 0), file.Readv(f, [][]byte{nil}, 9),
			file.CopyRange(to, 0, f, 0, 0), file.CopyRange(to, 0, f, 7, math.MaxInt64-7), file.Sleep(-1), file.Sleep(math.MinInt64),
			file.Truncate(f, 7), file.Advise(f, 0, 0, math.MaxInt64),
		} {
			if err := p.Do(t.Context(), &op); err != nil || op.N != 0 {
				t.Errorf("%d, %d: %v", i, op.N, err)
			}
		}
		for i, op := range []file.Op{
			file.ReadAt(f, make([]byte, 9), math.MaxInt64), file.WriteAt(f, make([]byte, 9), math.MaxInt64), file.Pread(f, make([]byte, 9), math.MaxInt64-1),
			file.Writev(f, [][]byte{{1}, {2}}, math.MaxInt64), file.CopyRange(to, math.MaxInt64, f, 0, 9), file.CopyRange(to, 0, f, math.MaxInt64, math.MaxInt64),
			file.Truncate(f, math.MaxInt64), file.Allocate(f, 0, math.MaxInt64, math.MaxInt64), file.Mkdir(string(make([]byte, 1)), 0o700),
		} {
			err := p.Do(t.Context(), &op)
			e, ok := errors.AsType[*ioerr.Error](err)
			if !ok || e.Effect != ioerr.Done || e.Origin != ioerr.Leaf || op.N != 0 {
				t.Errorf("%d, %d: %v", i, op.N, err)
			}
		}
		info, err := f.Stat(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 7, info.Size)
	})
}

// What was not made as it should be refuses everything, and takes nobody down.
func TestZeroValuesRefuseEverything(t *testing.T) {
	_, err := file.NewPool(file.Config{Buffers: new(file.Buffers)})
	e, ok := errors.AsType[*ioerr.ArgumentError](err)
	require.True(t, ok)
	require.Equal(t, "file.Config.Buffers", e.Name)
	ctx, buf := context.Background(), make([]byte, 1)
	for _, f := range []*file.File{nil, new(file.File)} {
		for _, err := range []error{
			second(f.ReadAt(ctx, buf, 0)), second(f.WriteAt(ctx, buf, 0)), second(f.Read(ctx, buf)), second(f.Write(ctx, buf)),
			second(f.Readv(ctx, nil, 0)), second(f.Writev(ctx, nil, 0)), second(f.Append(ctx, buf)), second(f.Stat(ctx)),
			f.Sync(ctx), f.Truncate(ctx, 0), f.Close(ctx),
			second(file.NewReader(ctx, f, file.StreamConfig{})), second(file.NewWriter(ctx, f, file.StreamConfig{})),
		} {
			require.ErrorIs(t, err, ioerr.ErrInvalid)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Law: what comes after Close is told the name of the file, and that it is closed; and never of
// another file.
func TestAClosedFileIsToldByName(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		f, open := create(t, p, filepath.Join(dir, "closed"), nil), create(t, p, filepath.Join(dir, "open"), nil)
		require.NoError(t, f.Close(t.Context()))
		_, err := f.ReadAt(t.Context(), make([]byte, 1), 0)
		to, from := file.CopyRange(f, 0, open, 0, 1), file.CopyRange(open, 0, f, 0, 1)
		ops := []file.Op{file.ReadAt(f, make([]byte, 1), 0)}
		for _, err := range []error{err, p.DoAll(t.Context(), ops), ops[0].Err, p.Do(t.Context(), &to), p.Do(t.Context(), &from)} {
			require.ErrorIs(t, err, os.ErrClosed)
			require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
			require.ErrorContains(t, err, f.Name())
			e, ok := errors.AsType[*ioerr.Error](err)
			require.True(t, ok)
			require.Equal(t, ioerr.None, e.Effect)
			require.Equal(t, ioerr.Handle, e.Origin)
		}
		both := []file.Op{file.ReadAt(open, make([]byte, 1), 0), file.ReadAt(f, make([]byte, 1), 0)}
		require.ErrorIs(t, p.DoAll(t.Context(), both), ioerr.ErrHandleNotFound)
		require.NotErrorIs(t, both[0].Err, os.ErrClosed)
		require.ErrorIs(t, both[1].Err, os.ErrClosed)
	})
}
