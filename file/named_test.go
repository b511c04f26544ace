package file_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// Law: an operation that did not come to its end since its context has ended says which it was, and of
// which file; and why.
func TestWhatIsCalledOffIsToldByName(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		f := create(t, p, filepath.Join(dir, "f"), []byte("abc"))
		g := create(t, p, filepath.Join(dir, "g"), nil)
		why := errors.New("why")
		dead, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		late, cancelLate := context.WithDeadline(t.Context(), time.Unix(1, 0))
		defer cancelLate()
		all := func(op file.Op) func(context.Context) error {
			return func(ctx context.Context) error {
				ops := []file.Op{file.Nop(), op}
				_ = p.DoAll(ctx, ops)
				return ops[1].Err
			}
		}
		for _, c := range []struct {
			verb string
			name string
			do   func(ctx context.Context) error
		}{
			{"read", f.Name(), func(ctx context.Context) error { _, err := f.ReadAt(ctx, make([]byte, 1), 0); return err }},
			{"write", f.Name(), func(ctx context.Context) error { _, err := f.WriteAt(ctx, []byte("x"), 0); return err }},
			{"sync", f.Name(), func(ctx context.Context) error { return f.Sync(ctx) }},
			{"copy", f.Name() + " " + g.Name(), func(ctx context.Context) error { _, err := g.CopyRange(ctx, 0, f, 0, 3); return err }},
			{"rename", "a b", func(ctx context.Context) error { return p.Rename(ctx, "a", "b") }},
			{"remove", "a", func(ctx context.Context) error { return p.Remove(ctx, "a") }},
			{"open", f.Name(), func(ctx context.Context) error { _, err := p.Open(ctx, f.Name(), os.O_RDONLY, 0); return err }},
			{"read", f.Name(), all(file.ReadAt(f, make([]byte, 1), 0))},
			{"copy", f.Name() + " " + g.Name(), all(file.CopyRange(g, 0, f, 0, 3))},
			{"read", f.Name(), func(ctx context.Context) error {
				r, err := file.NewReader(ctx, f, file.StreamConfig{})
				if err != nil {
					return err
				}
				defer r.Close()
				_, err = r.Read(make([]byte, 1))
				return err
			}},
			{"write", f.Name(), func(ctx context.Context) error {
				w, err := file.NewWriter(ctx, f, file.StreamConfig{})
				if err != nil {
					return err
				}
				_, _ = w.Write([]byte("x"))
				return w.Close()
			}},
		} {
			for ctx, cause := range map[context.Context]error{dead: why, late: context.DeadlineExceeded} {
				err := c.do(ctx)
				e, ok := errors.AsType[*ioerr.Error](err)
				if !ok || e.Effect != ioerr.None || !errors.Is(err, cause) {
					t.Errorf("%s: %v", c.verb, err)
				}
				if want := c.verb + " " + c.name + ": "; !strings.Contains(err.Error(), want) || strings.Count(err.Error(), want) > 1 {
					t.Errorf("%q does not say %q once", err, want)
				}
			}
		}
	})
}

// Law: an error of a copy names both files: whichever it was is one of them.
func TestAnErrorOfACopyNamesBothFiles(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		f := create(t, p, filepath.Join(dir, "f"), []byte("abc"))
		g := create(t, p, filepath.Join(dir, "g"), nil)
		readOnly, err := p.Open(t.Context(), g.Name(), os.O_RDONLY, 0)
		require.NoError(t, err)
		_, err = readOnly.CopyRange(t.Context(), 0, f, 0, 3)
		link, ok := errors.AsType[*os.LinkError](err)
		if !ok || link.Op != "copy" || link.Old != f.Name() || link.New != g.Name() {
			t.Error(err)
		}
		require.NoError(t, g.Close(t.Context()))
		_, err = g.CopyRange(t.Context(), 0, f, 0, 3)
		if path, ok := errors.AsType[*fs.PathError](err); !ok || path.Path != g.Name() {
			t.Error("it is known which one is closed: ", err)
		}
	})
}

// Law: a stream of a file that was not opened for it is refused at once, by name and value.
func TestAStreamOfAFileThatWasNotOpenedForItIsRefused(t *testing.T) {
	p := newPool(t, file.Config{})
	name := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("abc")).Name()
	adopt := func(flag int) *file.File {
		f, err := os.OpenFile(name, flag, 0)
		require.NoError(t, err)
		g, err := p.Adopt(f)
		require.NoError(t, err)
		return g
	}
	open := func(flag int) *file.File {
		f, err := p.Open(t.Context(), name, flag, 0)
		require.NoError(t, err)
		return f
	}
	for _, get := range []func(flag int) *file.File{open, adopt} {
		reads := func(f *file.File) error {
			r, err := file.NewReader(t.Context(), f, file.StreamConfig{})
			if err == nil {
				require.NoError(t, r.Close())
			}
			return err
		}
		writes := func(f *file.File) error {
			w, err := file.NewWriter(t.Context(), f, file.StreamConfig{})
			if err == nil {
				require.NoError(t, w.Close())
			}
			return err
		}
		refused := func(err error) {
			t.Helper()
			e, ok := errors.AsType[*ioerr.ArgumentError](err)
			if !ok || e.Name != "f" || e.Value != name {
				t.Error(err)
			}
		}
		require.NoError(t, reads(get(os.O_RDWR)))
		require.NoError(t, writes(get(os.O_RDWR)))
		require.NoError(t, reads(get(os.O_RDONLY)))
		require.NoError(t, writes(get(os.O_WRONLY)))
		refused(reads(get(os.O_WRONLY)))
		refused(writes(get(os.O_RDONLY)))
	}
}
