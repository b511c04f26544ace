package file_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

func TestAWriterWritesWhatItWasGiven(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			defer nothingLeft(t)()
			b := newBuffers(t, 5, 8192)
			for seed := range uint64(10) {
				random := rand.New(rand.NewPCG(seed, 0))
				want := noise(random.IntN(2) * random.IntN(60_000))
				f := stored(t, p, want, os.O_RDWR|direct)
				c := file.StreamConfig{Offset: random.Int64N(30_000), BufferSize: 4096 + random.IntN(4097), Depth: random.IntN(7)}
				if random.IntN(2) == 0 {
					c.Buffers = b
				}
				w, err := file.NewWriter(t.Context(), f, c.Slow(random.IntN(3) > 0))
				require.NoError(t, err)
				at := int(c.Offset)
				for range random.IntN(20) {
					given := writeSomehow(t, random, w)
					if len(given) > 0 {
						want = append(want, make([]byte, max(at+len(given)-len(want), 0))...)
						copy(want[at:], given)
						at += len(given)
					}
					if random.IntN(4) == 0 {
						if random.IntN(8) > 0 {
							require.NoError(t, w.Flush())
						} else {
							require.NoError(t, w.Sync())
						}
						same(t, f, want, seed)
					}
				}
				require.NoError(t, w.Close())
				require.NoError(t, w.Close(), "again")
				same(t, f, want, seed)
				require.Zero(t, b.Out())
			}
		})
	})
}

// same compares a file with what should be in it.
func same(t *testing.T, f *file.File, want []byte, seed uint64) {
	t.Helper()
	got, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("seed %d: %d bytes, want %d", seed, len(got), len(want))
	}
}

func writeSomehow(t *testing.T, random *rand.Rand, w *file.Writer) []byte {
	t.Helper()
	given := make([]byte, random.IntN(3)*random.IntN(8000))
	for i := range given {
		given[i] = byte(random.Uint32())
	}
	if random.IntN(3) == 0 {
		n, err := io.Copy(w, iotest.DataErrReader(bytes.NewReader(given)))
		require.NoError(t, err)
		require.EqualValues(t, len(given), n)
		return given
	}
	n, err := w.Write(given)
	require.NoError(t, err)
	require.Equal(t, len(given), n)
	return given
}

func TestADirectFileThatIsWriteOnlyEndsAnywhere(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		data := noise(10_001)
		f, err := p.Open(t.Context(), filepath.Join(t.TempDir(), "f"), os.O_WRONLY|os.O_CREATE|file.Direct, 0o600)
		if err != nil {
			t.Skip("no direct I/O here: ", err)
		}
		w, err := file.NewWriter(t.Context(), f, file.StreamConfig{BufferSize: 4096})
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		same(t, f, data, 0)
	})
}

func TestAWriterReturnsTheErrorsOfItsSource(t *testing.T) {
	p := newPool(t, file.Config{})
	f := stored(t, p, nil, os.O_RDWR)
	w, err := file.NewWriter(t.Context(), f, file.StreamConfig{})
	require.NoError(t, err)
	why := errors.New("why")
	n, err := w.ReadFrom(io.MultiReader(bytes.NewReader([]byte("abc")), iotest.ErrReader(why)))
	if n != 3 || err != why {
		t.Error(n, err)
	}
	if _, err := w.ReadFrom(stuck{}); err != io.ErrNoProgress {
		t.Error(err)
	}
	_, err = w.Write([]byte("def"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	same(t, f, []byte("abcdef"), 0)
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestAReaderReturnsTheErrorsOfItsTarget(t *testing.T) {
	p := newPool(t, file.Config{})
	data := noise(100)
	f := stored(t, p, data, os.O_RDWR)
	r := newReader(t, f, file.StreamConfig{BufferSize: 10})
	n, err := r.WriteTo(&brittle{room: 15})
	if n != 15 || err != io.ErrClosedPipe {
		t.Error(n, err)
	}
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, data[15:], rest)
}

// brittle is a writer with an end.
type brittle struct{ room int }

func (b *brittle) Write(p []byte) (int, error) {
	n := min(len(p), b.room)
	if b.room -= n; n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// Law: a Writer whose file takes nothing says so, and says the same again.
func TestAWriterOfAFileThatTakesNothingSaysSo(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		defer nothingLeft(t)()
		b := newBuffers(t, 3, 4096)
		f := stored(t, p, nil, os.O_RDWR)
		const tooFar = 1 << 62 // longer than any file
		w, err := file.NewWriter(t.Context(), f, file.StreamConfig{Offset: tooFar, Buffers: b}.Slow(true))
		require.NoError(t, err)
		n, first := w.Write(noise(100_000))
		if n >= 100_000 || first == nil {
			t.Fatal(n, first)
		}
		e, ok := errors.AsType[*file.OffsetError](first)
		if told, _ := errors.AsType[*ioerr.Error](first); !ok || e.Offset != tooFar || told.Origin != ioerr.Leaf || told.Effect != ioerr.Done {
			t.Error(first)
		}
		_, again := w.Write([]byte("x"))
		for _, err := range []error{again, w.Flush(), w.Sync(), w.Close(), w.Close()} {
			if err != first {
				t.Error(err)
			}
		}
		require.Zero(t, b.Out())
	})
}
