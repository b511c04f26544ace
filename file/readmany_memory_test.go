package file

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Law: the buffers of many reads take up no more than the window, or what one read needs, however
// the lengths differ.
func TestManyReadsKeepToTheirWindow(t *testing.T) {
	p, err := NewPool(Config{})
	require.NoError(t, err)
	defer p.Close()
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, make([]byte, 1<<20), 0o600))
	f, err := p.Open(t.Context(), name, os.O_RDONLY, 0)
	require.NoError(t, err)
	lengths := map[string]func(i int) int{
		"growing":   func(i int) int { return 1 + i*97 },
		"shrinking": func(i int) int { return 1 + (1000-i)*97 },
		"random":    func(int) int { return 1 + rand.IntN(100_000) },
		"large":     func(i int) int { return 1 + i%7/6*600_000 },
	}
	for name, length := range lengths {
		for _, slow := range []bool{false, true} {
			const window = 300_000
			reqs := make([]ReadRequest, 1000)
			for i := range reqs {
				reqs[i] = ReadRequest{File: f, Offset: int64(i), Length: length(i)}
			}
			c, err := ReadManyConfig{MaxMerged: 1, Depth: 8, Window: window, slow: slow}.complete(p)
			require.NoError(t, err)
			m := p.newReadMany(context.Background(), reqs, c, nil)
			longest, got := int64(0), 0
			m.run(func(i int, r ReadResult) bool {
				require.NoError(t, r.Err)
				require.Len(t, r.Data, reqs[i].Length)
				kept := m.held
				for _, buf := range m.free {
					kept += int64(len(buf))
				}
				longest = max(longest, int64(reqs[i].Length))
				require.LessOrEqual(t, kept, window+longest, name)
				require.Equal(t, kept, m.held+m.spare)
				got++
				return true
			})
			m.drain()
			require.Equal(t, len(reqs), got)
			require.Zero(t, m.held, "all are free")
		}
	}
}
