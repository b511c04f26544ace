package file_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func newPool(t testing.TB, c file.Config) *file.Pool {
	t.Helper()
	p, err := file.NewPool(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestOperationsThatMakeNoSenseAreRefused(t *testing.T) {
	p := newPool(t, file.Config{})
	f := create(t, p, filepath.Join(t.TempDir(), "f"), nil)
	for name, op := range map[string]file.Op{
		"f":   file.ReadAt(nil, nil, 0),
		"off": file.ReadAt(f, make([]byte, 1), -1),
		"dst": file.CopyRange(nil, 0, f, 0, 1),

		"op.Kind": {Kind: fileop.Close, File: &fileop.File{}},
	} {
		err := p.Do(t.Context(), &op)
		if e, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || e.Name != name {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.DoAll(t.Context(), []file.Op{op}); !errors.Is(err, ioerr.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, op := range []file.Op{file.WriteAt(f, nil, -5), file.CopyRange(f, -1, f, 0, 1), file.CopyRange(f, 0, nil, 0, 1)} {
		if err := p.Do(t.Context(), &op); !errors.Is(err, ioerr.ErrInvalid) {
			t.Error(err)
		}
	}
	if err := p.Do(t.Context(), nil); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error(err)
	}
	for _, none := range []*file.Pool{nil, new(file.Pool)} {
		op := file.Nop()
		for _, err := range []error{
			none.Do(t.Context(), &op), none.DoAll(t.Context(), nil), none.Fiber(t.Context(), nil), none.Close(),
			func() error { _, err := none.Open(t.Context(), "f", 0, 0); return err }(),
			func() error { _, err := none.Adopt(os.Stdin); return err }(),
		} {
			if !errors.Is(err, ioerr.ErrInvalid) {
				t.Errorf("%v", err)
			}
		}
	}
}

func TestAFileOfAnotherPoolIsRefused(t *testing.T) {
	p, other := newPool(t, file.Config{}), newPool(t, file.Config{})
	f := create(t, other, filepath.Join(t.TempDir(), "f"), nil)
	op := file.Sync(f)
	require.ErrorIs(t, p.Do(t.Context(), &op), ioerr.ErrScopeMismatch)
	op = file.CopyRange(create(t, p, f.Name()+"2", nil), 0, f, 0, 1)
	require.ErrorIs(t, p.Do(t.Context(), &op), ioerr.ErrScopeMismatch)
}

func TestAnOperationIsUsedAgain(t *testing.T) {
	p := newPool(t, file.Config{})
	f := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("abc"))
	op := file.ReadAt(f, make([]byte, 3), 0)
	for range 2 {
		require.NoError(t, p.Do(t.Context(), &op))
		require.EqualValues(t, 3, op.N)
		require.Equal(t, "abc", string(op.Buf))
	}
}

func TestManyOperationsWithCopiesAmongThem(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		a, b, c := create(t, p, filepath.Join(dir, "a"), []byte("one")), create(t, p, filepath.Join(dir, "b"), []byte("two")), create(t, p, filepath.Join(dir, "c"), nil)
		ops := []file.Op{
			file.CopyRange(c, 0, a, 0, 3), file.ReadAt(a, make([]byte, 9), 0), file.CopyRange(c, 3, b, 0, 9), file.Stat(b),
		}
		require.NoError(t, p.DoAll(t.Context(), ops))
		for i := range ops {
			if ops[i].Err != nil || ops[i].N != []int64{3, 3, 3, 0}[i] {
				t.Errorf("%d: %d, %v", i, ops[i].N, ops[i].Err)
			}
		}
		buf := make([]byte, 6)
		_, err := c.ReadAt(t.Context(), buf, 0)
		require.NoError(t, err)
		require.Equal(t, "onetwo", string(buf))
		require.EqualValues(t, 3, ops[3].More.Info.Size)

		require.NoError(t, c.Close(t.Context()))
		require.ErrorIs(t, p.DoAll(t.Context(), ops), ioerr.ErrHandleNotFound)
		require.ErrorIs(t, ops[0].Err, ioerr.ErrHandleNotFound)
	})
}

func TestAnAdoptedFileIsThePools(t *testing.T) {
	p := newPool(t, file.Config{})
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, []byte("abc"), 0o600))
	mine, err := os.Open(name)
	require.NoError(t, err)
	f, err := p.Adopt(mine)
	require.NoError(t, err)
	runtime.GC() // closes no file that is nobody's any more
	runtime.GC()
	buf := make([]byte, 3)
	_, err = f.ReadAt(t.Context(), buf, 0)
	require.NoError(t, err)
	require.Equal(t, name, f.Name())
	require.NoError(t, f.Close(t.Context()))
	require.ErrorIs(t, mine.Close(), os.ErrClosed)

	if _, err := p.Adopt(nil); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error(err)
	}
	if _, err := p.Adopt(mine); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error("a closed one:", err)
	}
	again, err := os.Open(name)
	require.NoError(t, err)
	require.NoError(t, p.Close())
	if _, err := p.Adopt(again); !errors.Is(err, ioerr.ErrShutdown) {
		t.Error(err)
	}
	require.NoError(t, again.Close(), "refused, it stays the caller's")
}

func TestAFileIsAReaderAtAndAWriterAt(t *testing.T) {
	p := newPool(t, file.Config{})
	f := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("hello, world"))
	got, err := io.ReadAll(io.NewSectionReader(f.IO(t.Context()), 7, 100))
	require.NoError(t, err)
	require.Equal(t, "world", string(got))
	n, err := io.WriteString(io.NewOffsetWriter(f.IO(t.Context()), 7), "there")
	require.NoError(t, err)
	require.Equal(t, 5, n)
	n, err = f.ReadAt(t.Context(), make([]byte, 20), 12)
	if n != 0 || err != io.EOF {
		t.Error(n, err)
	}
	if n, err := f.ReadAt(t.Context(), nil, 100); n != 0 || err != nil {
		t.Error("nothing:", n, err)
	}
}

func TestOperationsDoNotAllocate(t *testing.T) {
	p := newPool(t, file.Config{Threads: lane.Config{Workers: 2}})
	f := create(t, p, filepath.Join(t.TempDir(), "f"), numbered(1))
	ctx, buf := context.Background(), make([]byte, 4096)
	op := file.ReadAt(f, buf, 0)
	for name, do := range map[string]func(){
		"ReadAt":  func() { _, _ = f.ReadAt(ctx, buf, 0) },
		"WriteAt": func() { _, _ = f.WriteAt(ctx, buf, 0) },
		"Do":      func() { _ = p.Do(ctx, &op) },
	} {
		if n := testing.AllocsPerRun(200, do); n > 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestPoolsSayWhatIsWrongWithTheirConfig(t *testing.T) {
	for _, c := range []file.Config{{Share: -1}, {Share: 1 << 16}, {Waiters: -2}, {Threads: lane.Config{Workers: -1}}} {
		if _, err := file.NewPool(c); !errors.Is(err, ioerr.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for name, c := range map[string]file.Config{
		"file.Config.Share": {Share: -1}, "file.Config.Waiters": {Waiters: -2},
		"file.Config.HookWithin": {HookWithin: -1}, "file.Config.Watch.Slow": {Watch: pool.Watch{Slow: -1}},
		"lane.Config.Workers": {Threads: lane.Config{Workers: -1}},
	} {
		_, err := file.NewPool(c)
		if e, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || e.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
