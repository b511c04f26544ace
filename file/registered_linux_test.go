package file_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
)

func TestBuffersAreRegisteredForAsLongAsThePoolIsOpen(t *testing.T) {
	l, err := lane.NewRing(lane.RingConfig{})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Shutdown(t.Context())) }()
	b := newBuffers(t, 4, 8192)
	p := newPool(t, file.Config{Lane: l, Buffers: b})
	if l.Stats().Ring.Registered == 0 {
		t.Log("not registered here")
	}
	name := filepath.Join(t.TempDir(), "f")
	want := numbered(8)
	require.NoError(t, os.WriteFile(name, want, 0o600))
	f, err := p.Open(t.Context(), name, os.O_RDWR|file.Direct, 0)
	if err != nil {
		f, err = p.Open(t.Context(), name, os.O_RDWR, 0)
	}
	require.NoError(t, err)
	for off := int64(0); off < int64(len(want)); off += 8192 {
		buf := get(t, b)
		n, err := f.ReadAt(t.Context(), buf, off)
		require.NoError(t, err)
		require.True(t, bytes.Equal(buf[:n], want[off:off+8192]))
		b.Put(buf)
	}
	require.NoError(t, p.Close())
	require.Zero(t, l.Stats().Ring.Registered)

	again := newPool(t, file.Config{Lane: l, Buffers: b}) // there is room for it again
	g, err := again.Open(t.Context(), name, os.O_RDONLY, 0)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = g.ReadAt(t.Context(), make([]byte, 4096), 0) // and the pool works without
	require.NoError(t, err)
}
