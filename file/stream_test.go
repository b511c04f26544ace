package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// noise is n bytes that differ from place to place.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

// stored makes a file with this content, and opens it.
func stored(t testing.TB, p *file.Pool, data []byte, flag int) *file.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stored")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	f, err := p.Open(t.Context(), name, flag, 0)
	if err != nil && flag&file.Direct != 0 {
		t.Skip("no direct I/O here: ", err)
	}
	require.NoError(t, err)
	return f
}

// bothWays runs a test with files that are direct and that are not.
func bothWays(t *testing.T, test func(t *testing.T, direct int)) {
	t.Run("cached", func(t *testing.T) { test(t, 0) })
	t.Run("direct", func(t *testing.T) { test(t, file.Direct) })
}

// nothingLeft checks at the end of a test that no goroutine of its streams is left.
func nothingLeft(t *testing.T) func() {
	before := goleak.IgnoreCurrent()
	return func() { goleak.VerifyNone(t, before) }
}

func newReader(t testing.TB, f *file.File, c file.StreamConfig) *file.Reader {
	t.Helper()
	r, err := file.NewReader(t.Context(), f, c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestAReaderKeepsTheContractsOfPackageIO(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			data := noise(50_000)
			f := stored(t, p, data, os.O_RDONLY|direct)
			for _, c := range []file.StreamConfig{
				{}, {Depth: 1}, {BufferSize: 4096}, {BufferSize: 8192, Depth: 3}, {BufferSize: 4096, Depth: 1}, {BufferSize: 50_000},
			} {
				for _, slow := range []bool{false, true} {
					if err := iotest.TestReader(newReader(t, f, c.Slow(slow)), data); err != nil {
						t.Errorf("%+v: %v", c, err)
					}
				}
			}
		})
	})
}

func TestAReaderReadsWhatIsThere(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			defer nothingLeft(t)()
			data := noise(70_001)
			f := stored(t, p, data, os.O_RDONLY|direct)
			b := newBuffers(t, 5, 8192)
			for seed := range uint64(30) {
				random := rand.New(rand.NewPCG(seed, 0))
				c := file.StreamConfig{Offset: random.Int64N(80_000), BufferSize: 4096 + random.IntN(4097), Depth: random.IntN(7)}
				if random.IntN(2) == 0 {
					c.Limit = 1 + random.Int64N(80_000)
				}
				if random.IntN(2) == 0 {
					c.Buffers = b
				}
				want := data[min(c.Offset, int64(len(data))):]
				if c.Limit > 0 {
					want = want[:min(c.Limit, int64(len(want)))]
				}
				r, err := file.NewReader(t.Context(), f, c.Slow(random.IntN(3) > 0))
				require.NoError(t, err)
				got, err := readSomehow(random, r)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d: %+v: %d bytes of %d, %v", seed, c, len(got), len(want), err)
				}
				if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("%d: after the end: %d, %v", seed, n, err)
				}
				require.NoError(t, r.Close())
				require.NoError(t, r.Close(), "again")
				if _, err := r.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
					t.Error("closed:", err)
				}
				require.Zero(t, b.Out())
			}
		})
	})
}

// readSomehow reads all, by different methods in turn.
func readSomehow(random *rand.Rand, r *file.Reader) (got []byte, err error) {
	for {
		switch random.IntN(8) {
		case 0:
			var rest bytes.Buffer
			_, err := io.Copy(&rest, r)
			return append(got, rest.Bytes()...), err
		case 1:
			var c byte
			if c, err = r.ReadByte(); err == nil {
				got = append(got, c)
			}
		default:
			buf := make([]byte, random.IntN(10_000))
			var n int
			n, err = r.Read(buf)
			got = append(got, buf[:n]...)
		}
		switch err {
		case nil:
		case io.EOF:
			return got, nil
		default:
			return got, err
		}
	}
}

func TestAReaderIsSetToAnyPlace(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			data := noise(40_000)
			f := stored(t, p, data, os.O_RDONLY|direct)
			r := newReader(t, f, file.StreamConfig{BufferSize: 4096, Depth: 3}.Slow(true))
			oracle := bytes.NewReader(data)
			random := rand.New(rand.NewPCG(1, 2))
			for range 300 {
				whence := random.IntN(3)
				to := random.Int64N(45_000)
				if whence != io.SeekStart {
					to -= 45_000 * int64(whence) / 2
				}
				want, errWant := oracle.Seek(to, whence)
				got, err := r.Seek(to, whence)
				if (err != nil) != (errWant != nil) || err == nil && got != want {
					t.Fatalf("Seek(%d, %d): %d, %v; want %d, %v", to, whence, got, err, want, errWant)
				}
				buf, bufWant := make([]byte, random.IntN(6000)), make([]byte, 6000)
				n, err := io.ReadFull(r, buf)
				m, _ := oracle.Read(bufWant[:len(buf)])
				if n != m || !bytes.Equal(buf[:n], bufWant[:m]) {
					t.Fatalf("at %d: %d bytes, %v; want %d", want, n, err, m)
				}
			}
			if _, err := r.Seek(0, 7); !errors.Is(err, ioerr.ErrInvalid) {
				t.Error(err)
			}
			limited := newReader(t, f, file.StreamConfig{Offset: 10, Limit: 20})
			end, err := limited.Seek(0, io.SeekEnd)
			if end != 30 || err != nil {
				t.Error(end, err)
			}
			if n, err := limited.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Error(n, err)
			}
		})
	})
}

func TestAFileThatBecomesShorterEndsWhereItEnds(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			for _, size := range []int64{0, 1, 4096, 10_000, 20_480} {
				data := noise(60_000)
				f := stored(t, p, data, os.O_RDWR|direct)
				r := newReader(t, f, file.StreamConfig{BufferSize: 4096}.Slow(true))
				_, err := r.ReadByte()
				require.NoError(t, err)
				require.NoError(t, os.Truncate(f.Name(), size))
				rest, err := io.ReadAll(r)
				require.NoError(t, err)
				if len(rest) >= len(data) || !bytes.Equal(rest, data[1:1+len(rest)]) {
					t.Error("what is read is what was there once")
				}
			}
		})
	})
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		defer nothingLeft(t)()
		why := errors.New("why")
		b := newBuffers(t, 4, 4096)
		for blocks := range 5 {
			ctx, cancel := context.WithCancelCause(t.Context())
			data := noise(40_000)
			f := stored(t, p, data, os.O_RDWR)
			r, err := file.NewReader(ctx, f, file.StreamConfig{Buffers: b}.Slow(blocks != 2))
			require.NoError(t, err)
			buf := make([]byte, blocks*4096)
			_, err = io.ReadFull(r, buf)
			require.NoError(t, err)
			cancel(why)
			rest, err := io.ReadAll(r)
			ended(t, err, why)
			if !bytes.Equal(slices.Concat(buf, rest), data[:len(buf)+len(rest)]) {
				t.Error("not what is there")
			}
			require.NoError(t, r.Close())
			noneLeft(t, p)
			require.Eventually(t, func() bool { return b.Out() == 0 }, 10*time.Second, 100*time.Microsecond)

			ctx, cancel = context.WithCancelCause(t.Context())
			w, err := file.NewWriter(ctx, f, file.StreamConfig{Buffers: b}.Slow(blocks != 2))
			require.NoError(t, err)
			_, err = w.Write(noise(blocks*4096 + 10))
			require.NoError(t, err)
			cancel(why)
			err = w.Close()
			ended(t, err, why)
			if at, ok := errors.AsType[*file.OffsetError](err); !ok || at.Offset > int64(blocks*4096) {
				t.Error(err)
			}
			require.Equal(t, err, w.Close(), "again")
			noneLeft(t, p)
			require.Eventually(t, func() bool { return b.Out() == 0 }, 10*time.Second, 100*time.Microsecond)
			_, err = file.NewWriter(ctx, f, file.StreamConfig{Buffers: b})
			ended(t, err, why)
		}
	})
}

// ended checks the error of what has a context that has ended.
func ended(t *testing.T, err, why error) {
	t.Helper()
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok || e.Outcome != ioerr.Cancelled || !errors.Is(err, why) {
		t.Errorf("ended: %v", err)
	}
}

func TestAStreamOfAFileThatIsClosedIsRefused(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		defer nothingLeft(t)()
		data := noise(40_000)
		f := stored(t, p, data, os.O_RDWR)
		r := newReader(t, f, file.StreamConfig{BufferSize: 4096}.Slow(true))
		w, err := file.NewWriter(t.Context(), f, file.StreamConfig{BufferSize: 4096, Offset: 40_000}.Slow(true))
		require.NoError(t, err)
		_, err = r.ReadByte()
		require.NoError(t, err)
		require.NoError(t, f.Close(t.Context()))
		got, err := io.ReadAll(r)
		require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
		require.Equal(t, data[1:1+len(got)], got)
		_, again := r.Read(make([]byte, 1))
		require.Equal(t, err, again)

		_, err = w.Write([]byte("x"))
		require.NoError(t, err)
		require.ErrorIs(t, w.Sync(), ioerr.ErrHandleNotFound)
		_, err = w.Write([]byte("x"))
		require.ErrorIs(t, err, ioerr.ErrHandleNotFound)
		require.ErrorIs(t, w.Close(), ioerr.ErrHandleNotFound)
		_, err = w.Write([]byte("x"))
		require.ErrorIs(t, err, fs.ErrClosed)
		require.ErrorIs(t, w.Flush(), fs.ErrClosed)
	})
}

func TestAShutdownEndsAStream(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		f := stored(t, p, noise(40_000), os.O_RDWR)
		r := newReader(t, f, file.StreamConfig{BufferSize: 4096}.Slow(true))
		w, err := file.NewWriter(t.Context(), f, file.StreamConfig{}.Slow(true))
		require.NoError(t, err)
		_, err = w.Write([]byte("x"))
		require.NoError(t, err)
		_, err = r.ReadByte()
		require.NoError(t, err)
		require.NoError(t, p.Close())
		_, err = io.ReadAll(r)
		require.ErrorIs(t, err, ioerr.ErrShutdown)
		require.ErrorIs(t, w.Close(), ioerr.ErrShutdown)
	})
}

func TestALaneWithLittleRoomBreaksNoStream(t *testing.T) {
	for _, c := range []lane.Config{
		{Workers: 1, Policy: lane.FailFast, Queue: lane.NoQueue}, {Workers: 2, Queue: lane.NoQueue, Waiters: lane.NoWaiters}, {Workers: 1, Queue: 1},
	} {
		t.Run(fmt.Sprint(c.Workers, c.Policy, c.Queue), func(t *testing.T) {
			p := newPool(t, file.Config{Threads: c})
			data := noise(200_000)
			f := stored(t, p, data, os.O_RDWR)
			r := newReader(t, f, file.StreamConfig{BufferSize: 1000, Depth: 8}.Slow(true))
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, got))
			require.NoError(t, r.Close()) // what it has read ahead may take up the only slot
			w, err := file.NewWriter(t.Context(), f, file.StreamConfig{BufferSize: 1000, Depth: 8, Offset: 200_000}.Slow(true))
			require.NoError(t, err)
			_, err = w.Write(data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			got, err = os.ReadFile(f.Name())
			require.NoError(t, err)
			require.True(t, bytes.Equal(append(data, data...), got))
		})
	}
}

func TestStreamsWorkInsideOfCallsAndFibers(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		data := noise(100_000)
		f := stored(t, p, data, os.O_RDONLY)
		all := func(ctx context.Context) error {
			r, err := file.NewReader(ctx, f, file.StreamConfig{BufferSize: 4096, Depth: 8}.Slow(true))
			if err != nil {
				return err
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if err == nil && !bytes.Equal(got, data) {
				err = errors.New("not what is there")
			}
			return err
		}
		require.NoError(t, p.Fiber(t.Context(), all))
		require.NoError(t, p.Pool().Offload(t.Context(), all))
	})
}

func TestStreamsThatMakeNoSenseAreRefused(t *testing.T) {
	p := newPool(t, file.Config{})
	f := stored(t, p, []byte("abc"), os.O_RDWR)
	b := newBuffers(t, 1, 100)
	null, err := p.Open(t.Context(), os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	for name, c := range map[string]file.StreamConfig{
		"Offset": {Offset: -1}, "BufferSize": {BufferSize: -1}, "Depth": {Depth: 1025}, "Limit": {Limit: -1},
	} {
		_, err := file.NewReader(t.Context(), f, c)
		if e, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || e.Name != "file.StreamConfig."+name {
			t.Errorf("%s: %v", name, err)
		}
		_, err = file.NewWriter(t.Context(), f, c)
		if e, ok := errors.AsType[*ioerr.ArgumentError](err); !ok || e.Name != "file.StreamConfig."+name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range []*file.File{nil, null} {
		if _, err := file.NewReader(t.Context(), f, file.StreamConfig{}); !errors.Is(err, ioerr.ErrInvalid) {
			t.Error(err)
		}
	}
	if _, err := file.NewReader(t.Context(), f, file.StreamConfig{Buffers: b, BufferSize: 101}); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error(err)
	}
	if _, err := file.NewWriter(t.Context(), f, file.StreamConfig{Limit: 1}); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error(err)
	}
	var none context.Context
	if _, err := file.NewReader(none, f, file.StreamConfig{}); !errors.Is(err, ioerr.ErrInvalid) {
		t.Error(err)
	}
	require.Zero(t, b.Out())
}
