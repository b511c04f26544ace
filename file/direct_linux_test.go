package file_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

func TestDirectTransfersAreRightOrRefused(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		ctx, name := t.Context(), filepath.Join(t.TempDir(), "f")
		want := numbered(4)
		require.NoError(t, os.WriteFile(name, want, 0o600))
		f, err := p.Open(ctx, name, os.O_RDWR|file.Direct, 0)
		if err != nil {
			t.Skip("no direct I/O here: ", err)
		}
		require.True(t, f.Direct())
		memory, offset := f.Alignment()
		if memory < 1 || offset < 512 {
			t.Error(memory, offset)
		}
		b := newBuffers(t, 2, 8192)
		buf := get(t, b)
		defer b.Put(buf)
		n, err := f.ReadAt(ctx, buf, 4096)
		require.NoError(t, err)
		require.True(t, bytes.Equal(buf[:n], want[4096:4096+8192]))

		odd := make([]byte, 5000)[1:] // unaligned in all respects
		n, err = f.ReadAt(ctx, odd, 4000)
		require.NoError(t, err)
		require.True(t, bytes.Equal(odd[:n], want[4000:4000+4999]))

		for what, write := range map[string]func() (int, error){
			"offset": func() (int, error) { return f.WriteAt(ctx, buf, 10) },
			"length": func() (int, error) { return f.WriteAt(ctx, buf[:100], 0) },
			"memory": func() (int, error) { return f.WriteAt(ctx, buf[1:4097], 0) },
		} {
			n, err := write()
			e, ok := errors.AsType[*file.AlignmentError](err)
			if !ok || e.What != what || n != 0 {
				t.Errorf("%s: %d, %v", what, n, err)
			}
			if e, _ := errors.AsType[*ioerr.Error](err); e == nil || e.Origin != ioerr.Leaf {
				t.Errorf("%v", err)
			}
		}
		for i := range buf {
			buf[i] = 9
		}
		_, err = f.WriteAt(ctx, buf, 8192)
		require.NoError(t, err)
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(got, append(want[:8192:8192], buf...)))
	})
}

func TestAFileThatIsNotDirectHasNoAlignment(t *testing.T) {
	p := newPool(t, file.Config{})
	f := create(t, p, filepath.Join(t.TempDir(), "f"), nil)
	if memory, offset := f.Alignment(); f.Direct() || memory != 1 || offset != 1 {
		t.Error(memory, offset)
	}
}
