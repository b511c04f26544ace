package ringdriver

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/slab"
)

// Law: a registration that ends while an operation uses it holds up nobody: the operation ends as it would
// have, and then there is room for another registration.
func TestARegistrationEndsWithItsLastOperation(t *testing.T) {
	m, err := slab.Map(8192, 4096)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Free()) }()
	first, second := fileop.NewSlab(m.Bytes[:4096], 4096), fileop.NewSlab(m.Bytes[4096:8192], 4096)
	d := newDriver(t, Config{Slots: 4})
	if err := d.Register(first); err != nil {
		t.Skip(err)
	}
	g := newGate(t)
	g.op.Buf = m.Bytes[:1]
	var all sync.WaitGroup
	all.Go(func() { d.Do(bg, g.op) })
	flying(t, d, 1)
	asOwner(t, d, func() { require.Equal(t, 1, d.fixed) })
	d.Unregister(first)
	d.Do(bg, nop())
	require.ErrorIs(t, d.Register(second), ErrRegistered)
	d.Unregister(second)
	g.open()
	all.Wait()
	want(t, g.op, 1, nil)
	require.Equal(t, byte('x'), m.Bytes[0])
	require.NoError(t, d.Register(second))
	asOwner(t, d, func() { require.Zero(t, d.fixed) })
	d.Unregister(second)
	require.NoError(t, d.Register(first))
	d.Unregister(first)
}
