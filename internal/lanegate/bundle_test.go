package lanegate

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Law: a bundle takes what is free while nobody waits, and every slot of it is given back.
func TestABundleTakesWhatIsFree(t *testing.T) {
	g := New(Config{Slots: 100, Queue: 4, Tickets: new(Tickets)})
	var b Bundle
	b.Grab(g, 30)
	require.Equal(t, 30, b.Len())
	require.Equal(t, 30, g.Stats().Running)
	require.Equal(t, 70, b.Grow(1000))
	require.Equal(t, 0, b.Grow(1))
	_, v, ticket := g.Line(&Request{})
	require.NotNil(t, ticket, v)
	b.Drop()
	require.Equal(t, 0, b.Grow(1), "somebody waits")
	s, v := g.Wait(context.Background(), ticket)
	require.Equal(t, Granted, v)
	s.Release()
	require.Equal(t, 1, b.Grow(5))
	b.DropAll()
	require.Equal(t, 0, b.Len())
	stats := g.Stats()
	require.Equal(t, 0, stats.Running)
	require.Equal(t, uint64(102), stats.Completed)
	require.True(t, g.Close())
	require.Equal(t, 0, b.Grow(5), "a closed gate lends nothing")
}
