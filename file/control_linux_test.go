package file_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// fileAt is the file that a descriptor is of at this moment.
func fileAt(fd uintptr) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return name
}

// Law: whoever has the descriptor has the file: it is not closed before he is done, and is his file's
// all the time.
func TestADescriptorIsThatOfItsFileAsLongAsItIsUsed(t *testing.T) {
	onEachLane(t, func(t *testing.T, k kind, p *file.Pool) {
		f := create(t, p, filepath.Join(t.TempDir(), "f"), []byte("abc"))
		if k.name == "inline" {
			return // one goroutine does all
		}
		inside, closing := make(chan string), make(chan struct{})
		done := start(func() error {
			return f.Control(context.Background(), func(fd uintptr) error {
				inside <- fileAt(fd)
				<-closing
				inside <- fileAt(fd)
				return nil
			})
		})
		require.Equal(t, f.Name(), <-inside)
		closed := start(func() error { return f.Close(context.Background()) })
		require.Eventually(t, func() bool { return !p.Pool().Has(f.ID()) }, 10*time.Second, 100*time.Microsecond)
		close(closing)
		require.Equal(t, f.Name(), <-inside)
		require.NoError(t, <-done)
		require.NoError(t, <-closed)
	})
}

// Law: what the user of a descriptor says is an error of the system's kind; what keeps him from it names the
// file.
func TestControlSaysWhatHappened(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		name := filepath.Join(t.TempDir(), "f")
		f := create(t, p, name, []byte("abc"))
		ctx := t.Context()
		var mu sync.Mutex // also where the call is on another goroutine
		size := int64(0)
		require.NoError(t, f.Control(ctx, func(fd uintptr) error {
			mu.Lock()
			defer mu.Unlock()
			var st syscall.Stat_t
			err := syscall.Fstat(int(fd), &st)
			size = st.Size
			return err
		}))
		mu.Lock()
		require.EqualValues(t, 3, size)
		mu.Unlock()

		err := f.Control(ctx, func(uintptr) error { return syscall.ENOTTY })
		e, ok := errors.AsType[*ioerr.Error](err)
		if !ok || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || !errors.Is(err, syscall.ENOTTY) {
			t.Error(err)
		}
		err = f.Control(ctx, func(uintptr) error { panic("fn") })
		if e, ok := errors.AsType[*ioerr.PanicError](err); !ok || e.Value != "fn" {
			t.Error(err)
		}
		never := func(uintptr) error { t.Error("it ran"); return nil }
		dead, cancel := context.WithCancel(ctx)
		cancel()
		err = f.Control(dead, never)
		if path, ok := errors.AsType[*fs.PathError](err); !ok || path.Op != "control" || path.Path != name || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		require.ErrorIs(t, f.Control(ctx, nil), ioerr.ErrInvalid)
		require.ErrorIs(t, new(file.File).Control(ctx, never), ioerr.ErrInvalid)
		require.ErrorIs(t, (*file.File)(nil).Control(ctx, never), ioerr.ErrInvalid)
		require.NoError(t, f.Close(ctx))
		err = f.Control(ctx, never)
		if path, ok := errors.AsType[*fs.PathError](err); !ok || path.Path != name || !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
}

// A program asks how large the blocks of a file system are, for which there is no operation.
func ExampleFile_Control() {
	ctx := context.Background()
	files, err := file.NewPool(file.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	f, err := files.Open(ctx, os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var st syscall.Statfs_t
	err = f.Control(ctx, func(fd uintptr) error { return syscall.Fstatfs(int(fd), &st) })
	fmt.Println(st.Bsize > 0, err)
	// Output: true <nil>
}
