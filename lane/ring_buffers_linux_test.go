package lane_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/slab"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// newSlab is memory to register, of one size.
func newSlab(t *testing.T) *fileop.Slab {
	t.Helper()
	m, err := slab.Map(4096, 4096)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Free()) })
	return fileop.NewSlab(m.Bytes, 4096)
}

// Law: another slab is refused while one is registered, and changes nothing; whoever comes
// after the end of the lane is told.
func TestOneSlabIsRegisteredAtATime(t *testing.T) {
	l := ring(t, lane.RingConfig{Config: lane.Config{Workers: 4}, Rings: 2})
	first, second := newSlab(t), newSlab(t)
	if err := l.RegisterBuffers(first); err != nil {
		t.Skip(err)
	}
	size := l.Stats().Ring.Registered
	require.NotZero(t, size)
	for _, s := range []*fileop.Slab{first, second} {
		require.Error(t, l.RegisterBuffers(s))
	}
	l.UnregisterBuffers(second)
	require.Equal(t, size, l.Stats().Ring.Registered)
	require.Error(t, l.RegisterBuffers(second))
	l.UnregisterBuffers(first)
	require.Zero(t, l.Stats().Ring.Registered)
	require.NoError(t, l.RegisterBuffers(second))
	l.UnregisterBuffers(second)
	require.NoError(t, l.Shutdown(context.Background()))
	require.ErrorIs(t, l.RegisterBuffers(first), ioerr.ErrShutdown)
	require.Zero(t, l.Stats().Ring.Registered)
}
