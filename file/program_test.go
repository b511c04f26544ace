package file_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// numbered is n blocks of 4,096 bytes, each full of its number.
func numbered(n int) []byte {
	b := make([]byte, 0, n*4096)
	for i := range n {
		b = append(b, bytes.Repeat([]byte{byte(i)}, 4096)...)
	}
	return b
}

func create(t *testing.T, p *file.Pool, name string, data []byte) *file.File {
	t.Helper()
	f, err := p.Create(t.Context(), name)
	require.NoError(t, err)
	n, err := f.WriteAt(t.Context(), data, 0)
	require.NoError(t, err)
	require.Equal(t, len(data), n)
	return f
}

func TestTheSameProgramRunsOnEveryLane(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx, dir := t.Context(), t.TempDir()
		require.NoError(t, p.Mkdir(ctx, filepath.Join(dir, "sub"), 0o700))
		name := filepath.Join(dir, "sub", "a")
		f := create(t, p, name, []byte("hello, "))
		n, err := f.Writev(ctx, [][]byte{[]byte("wor"), nil, []byte("ld")}, 7)
		require.NoError(t, err)
		require.EqualValues(t, 5, n)
		m, err := f.Append(ctx, []byte("!"))
		require.NoError(t, err)
		require.Equal(t, 1, m)
		require.NoError(t, f.Datasync(ctx))
		require.NoError(t, f.Sync(ctx))

		buf := make([]byte, 13)
		m, err = f.ReadAt(ctx, buf, 0)
		require.NoError(t, err)
		require.Equal(t, "hello, world!", string(buf[:m]))
		one, two := make([]byte, 5), make([]byte, 100)
		n, err = f.Readv(ctx, [][]byte{one, two}, 2)
		require.Equal(t, io.EOF, err)
		require.Equal(t, "llo, world!", string(one)+string(two[:n-5]))

		require.NoError(t, f.Truncate(ctx, 5))
		info, err := f.Stat(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 5, info.Size)
		require.NoError(t, f.Advise(ctx, 0, 0, 0))

		other := filepath.Join(dir, "b")
		require.NoError(t, p.Rename(ctx, name, other))
		info, err = p.Stat(ctx, other)
		require.NoError(t, err)
		require.EqualValues(t, 5, info.Size)
		require.True(t, info.Mode.IsRegular())

		g, err := p.Create(ctx, name)
		require.NoError(t, err)
		n, err = g.CopyRange(ctx, 3, f, 1, 100)
		require.Equal(t, io.EOF, err)
		require.EqualValues(t, 4, n)
		m, err = g.ReadAt(ctx, buf, 0)
		require.Equal(t, io.EOF, err)
		require.Equal(t, "\x00\x00\x00ello", string(buf[:m]))

		require.NoError(t, g.Close(ctx))
		require.NoError(t, g.Close(ctx), "again")
		_, err = g.ReadAt(ctx, buf, 0)
		require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
		require.NoError(t, p.Remove(ctx, name))
		require.NoError(t, p.RemoveDir(ctx, filepath.Join(dir, "sub")))
		_, err = p.Stat(ctx, name)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}

func TestManyReadOneFileAtATime(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		const blocks = 64
		f := create(t, p, filepath.Join(t.TempDir(), "numbered"), numbered(blocks))
		check := func(i int, buf []byte, n int, err error) {
			if err != nil || n != 4096 || !bytes.Equal(buf, bytes.Repeat([]byte{byte(i)}, 4096)) {
				t.Errorf("block %d: %d bytes, %v", i, n, err)
			}
		}
		var wg sync.WaitGroup
		for i := range blocks {
			wg.Go(func() {
				buf := make([]byte, 4096)
				n, err := f.ReadAt(context.Background(), buf, int64(i)*4096)
				check(i, buf, n, err)
			})
		}
		wg.Wait()

		ops := make([]file.Op, blocks)
		for i := range ops {
			ops[i] = file.ReadAt(f, make([]byte, 4096), int64(i)*4096)
		}
		require.NoError(t, p.DoAll(t.Context(), ops))
		for i := range ops {
			check(i, ops[i].Buf, int(ops[i].N), ops[i].Err)
		}

		require.NoError(t, p.Fiber(t.Context(), func(ctx context.Context) error {
			buf := make([]byte, 4096)
			for i := range blocks {
				n, err := f.ReadAt(ctx, buf, int64(i)*4096)
				check(i, buf, n, err)
			}
			return nil
		}))
	})
}

func TestErrorsTellWhatHappenedToWhichFile(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx, missing := t.Context(), filepath.Join(t.TempDir(), "missing")
		_, err := p.Open(ctx, missing, os.O_RDONLY, 0)
		e, ok := errors.AsType[*ioerr.Error](err)
		if !ok || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		path, ok := errors.AsType[*fs.PathError](err)
		if !ok || path.Op != "open" || path.Path != missing {
			t.Errorf("%v", err)
		}
		link, ok := errors.AsType[*os.LinkError](p.Rename(ctx, missing, missing+"2"))
		if !ok || link.Old != missing || link.New != missing+"2" {
			t.Errorf("%v", link)
		}

		name := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(name, []byte("abc"), 0o600))
		f, err := p.Open(ctx, name, os.O_RDONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteAt(ctx, []byte("x"), 0)
		path, ok = errors.AsType[*fs.PathError](err)
		e, _ = errors.AsType[*ioerr.Error](err)
		if !ok || path.Op != "write" || path.Path != name || e.Handle != f.ID() || e.Effect != ioerr.Done {
			t.Errorf("%v", err)
		}
		ops := []file.Op{file.ReadAt(f, make([]byte, 3), 0), file.WriteAt(f, []byte("x"), 0), file.Remove(missing)}
		err = p.DoAll(ctx, ops)
		if err != ops[1].Err || ops[0].Err != nil || ops[0].N != 3 || !errors.Is(ops[2].Err, fs.ErrNotExist) {
			t.Errorf("%v, %v, %v, %v", err, ops[0].Err, ops[1].Err, ops[2].Err)
		}
		if path, ok := errors.AsType[*fs.PathError](ops[1].Err); !ok || path.Path != name {
			t.Errorf("%v", ops[1].Err)
		}
	})
}

func TestWhatHasNotBegunIsNotDoneWhenItsContextEnds(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		f := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("abc"))
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		_, err := f.WriteAt(ctx, []byte("x"), 0)
		e, ok := errors.AsType[*ioerr.Error](err)
		if !ok || e.Outcome != ioerr.Cancelled || e.Effect != ioerr.None || !errors.Is(err, why) {
			t.Error(err)
		}
		ops := []file.Op{file.WriteAt(f, []byte("x"), 0)}
		if err := p.DoAll(ctx, ops); !errors.Is(err, why) || !errors.Is(ops[0].Err, why) {
			t.Error(err, ops[0].Err)
		}
		if _, err := p.Open(ctx, f.Name(), os.O_RDONLY, 0); !errors.Is(err, why) {
			t.Error(err)
		}
		buf := make([]byte, 3)
		_, err = f.ReadAt(t.Context(), buf, 0)
		require.NoError(t, err)
		require.Equal(t, "abc", string(buf))
	})
}
