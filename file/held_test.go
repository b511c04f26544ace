package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// isOpen asks the system about a descriptor.
func isOpen(f *fileop.File) bool {
	op := Op{Kind: fileop.Stat, File: f, More: new(fileop.More)}
	op.Do(context.Background(), nil)
	return op.Err == nil
}

func TestAFileThatIsHeldIsClosedByTheLastHolder(t *testing.T) {
	p, err := NewPool(Config{})
	require.NoError(t, err)
	defer p.Close()
	f, err := p.Create(t.Context(), filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	p.held.hold(f.file)
	p.held.hold(f.file)
	require.NoError(t, f.Close(t.Context()))
	require.NoError(t, p.held.release(f.file))
	if !isOpen(f.file) {
		t.Fatal("closed while it is held")
	}
	require.NoError(t, p.held.release(f.file))
	if isOpen(f.file) {
		t.Fatal("still open")
	}
}

func TestACopyThatFailsLetsGoOfBothFiles(t *testing.T) {
	l, err := lane.NewAbandoning(lane.AbandoningConfig{})
	require.NoError(t, err)
	p, err := NewPool(Config{Lane: l, OwnsLane: true})
	require.NoError(t, err)
	defer p.Close()
	dir := t.TempDir()
	f, err := p.Create(t.Context(), filepath.Join(dir, "f"))
	require.NoError(t, err)
	g, err := p.Open(t.Context(), filepath.Join(dir, "g"), os.O_WRONLY|os.O_CREATE, 0o600) // cannot be copied from
	require.NoError(t, err)
	_, err = f.CopyRange(t.Context(), 0, g, 0, 10)
	require.ErrorIs(t, err, syscall.EBADF)
	require.NoError(t, g.Close(t.Context()))
	_, err = f.CopyRange(t.Context(), 0, g, 0, 10)
	require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
	_, err = g.CopyRange(t.Context(), 0, f, 0, 10)
	require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
	require.Empty(t, p.held.files)
}

func TestAFailedSyncPoisonsTheFile(t *testing.T) {
	ctx := t.Context()
	p, err := NewPool(Config{})
	require.NoError(t, err)
	defer p.Close() // whatever the disposal says
	broken := &fileop.File{Name: "broken", FD: 1 << 20}
	broken.ID, err = p.files.Adopt(broken)
	require.NoError(t, err)
	f := &File{pool: p, file: broken}

	err = f.Datasync(ctx)
	path, ok := errors.AsType[*fs.PathError](err)
	if e, _ := errors.AsType[*ioerr.Error](err); !ok || path.Op != "datasync" || e.Origin != ioerr.Leaf || !errors.Is(err, ioerr.ErrPoisoned) {
		t.Error(err)
	}
	for what, op := range map[string]func() error{
		"sync":  func() error { return f.Sync(ctx) },
		"write": func() error { _, err := f.WriteAt(ctx, []byte("x"), 0); return err },
	} {
		err := op()
		if e, ok := errors.AsType[*ioerr.UnfitError](err); !ok || e.Err != ioerr.ErrPoisoned || !errors.Is(err, syscall.EBADF) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ops := []Op{Sync(f)}
	if err := p.DoAll(ctx, ops); !errors.Is(err, ioerr.ErrPoisoned) || !errors.Is(ops[0].Err, ioerr.ErrPoisoned) {
		t.Error(err)
	}
	if _, ok := errors.AsType[*ioerr.HookError](f.Close(ctx)); !ok {
		t.Error("closed")
	}
}

func TestWhatCannotBeSyncedIsNoneTheWorseForIt(t *testing.T) {
	p, err := NewPool(Config{})
	require.NoError(t, err)
	defer p.Close()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	f, err := p.Adopt(w)
	require.NoError(t, err)
	require.Error(t, f.Sync(t.Context()))
	_, err = f.Write(t.Context(), []byte("x"))
	require.NoError(t, err)
}
