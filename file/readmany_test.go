package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// checkResult compares a result with what package os would have said.
func checkResult(t *testing.T, i int, got file.ReadResult, data []byte, r file.ReadRequest) {
	t.Helper()
	want := data[min(r.Offset, int64(len(data))):]
	want = want[:min(r.Length, len(want))]
	var wantErr error
	if len(want) < r.Length {
		wantErr = io.EOF
	}
	if got.Err != wantErr || !bytes.Equal(got.Data, want) {
		t.Errorf("%d: %d bytes from %d: got %d, %v", i, r.Length, r.Offset, len(got.Data), got.Err)
	}
}

func TestEachOfManyReadsIsAnsweredInItsTurn(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			defer nothingLeft(t)()
			contents := [][]byte{noise(100_000), noise(30_001)[1:], nil}
			files := make([]*file.File, len(contents))
			for i := range files {
				files[i] = stored(t, p, contents[i], os.O_RDONLY|direct)
			}
			for seed := range uint64(10) {
				random := rand.New(rand.NewPCG(seed, 0))
				c := file.ReadManyConfig{
					MaxMerged: random.IntN(2) * random.IntN(50_000), MaxGap: random.IntN(2) * random.IntN(20_000),
					Depth: random.IntN(6), Window: random.IntN(2) * random.IntN(200_000),
				}
				reqs := make([]file.ReadRequest, random.IntN(200))
				which := make([]int, len(reqs))
				for i := range reqs {
					which[i] = random.IntN(len(files))
					reqs[i] = file.ReadRequest{File: files[which[i]], Offset: random.Int64N(110_000), Length: random.IntN(2) * random.IntN(9_000)}
				}
				next := 0
				for i, got := range p.ReadMany(t.Context(), reqs, c.Slow(seed%3 > 0)) {
					if i != next {
						t.Fatalf("%d in place of %d", i, next)
					}
					next++
					checkResult(t, i, got, contents[which[i]], reqs[i])
				}
				if next != len(reqs) {
					t.Errorf("%+v: %d of %d", c, next, len(reqs))
				}
			}
		})
	})
}

// reads counts the reads that ReadMany makes of requests.
func reads(t *testing.T, p *file.Pool, reqs []file.ReadRequest, c file.ReadManyConfig) (n uint64) {
	t.Helper()
	before := p.Pool().Stats().Lane.Submitted
	for i, got := range p.ReadMany(t.Context(), reqs, c) {
		if got.Err != nil {
			t.Errorf("%d: %v", i, got.Err)
		}
	}
	return p.Pool().Stats().Lane.Submitted - before
}

func TestNeighboursAreReadTogetherWithinTheLimits(t *testing.T) {
	bothWays(t, func(t *testing.T, direct int) {
		p := newPool(t, file.Config{})
		f := stored(t, p, noise(1<<20), os.O_RDONLY|direct)
		g := stored(t, p, noise(1<<20), os.O_RDONLY|direct)
		const page = 4096
		list := func(f *file.File, length int, pages ...int64) (reqs []file.ReadRequest) {
			for _, n := range pages {
				reqs = append(reqs, file.ReadRequest{File: f, Offset: n * page, Length: length})
			}
			return reqs
		}
		for _, c := range []struct {
			what   string
			reqs   []file.ReadRequest
			config file.ReadManyConfig
			want   uint64
		}{
			{"neighbours", list(f, page, 0, 1, 2, 3), file.ReadManyConfig{}, 1},
			{"in any order", list(f, page, 3, 1, 0, 2), file.ReadManyConfig{}, 1},
			{"up to the limit", list(f, page, 0, 1, 2, 3), file.ReadManyConfig{MaxMerged: 2 * page}, 2},
			{"the same", list(f, page, 5, 5, 5), file.ReadManyConfig{MaxMerged: 1}, 1},
			{"within one another", append(list(f, 4*page, 5), list(f, page, 6, 7)...), file.ReadManyConfig{MaxMerged: 1}, 1},
			{"with a gap", list(f, page, 0, 2), file.ReadManyConfig{}, 2},
			{"with a gap that may be read", list(f, page, 0, 2), file.ReadManyConfig{MaxGap: page}, 1},
			{"with a larger one", list(f, page, 0, 3), file.ReadManyConfig{MaxGap: 2*page - 1}, 2},
			{"of two files", append(list(f, page, 0, 1), list(g, page, 0, 1)...), file.ReadManyConfig{}, 2},
			{"beyond the window", list(f, page, 0, 9, 1), file.ReadManyConfig{Window: 2 * page}, 3},
			{"nothing", list(f, 0, 0, 9), file.ReadManyConfig{}, 0},
		} {
			if got := reads(t, p, c.reqs, c.config); got != c.want {
				t.Errorf("%s: %d reads, want %d", c.what, got, c.want)
			}
		}
		if n := reads(t, p, []file.ReadRequest{{f, 10, 100}, {f, 500, 10}}, file.ReadManyConfig{}); n != 2 && direct == 0 || n != 1 && direct != 0 {
			t.Errorf("within one piece: %d", n)
		}
	})
}

func TestAnErrorOfManyReadsIsThatOfItsRequest(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		data := noise(20_000)
		f, gone := stored(t, p, data, os.O_RDONLY), stored(t, p, data, os.O_RDONLY)
		require.NoError(t, gone.Close(t.Context()))
		other := newPool(t, file.Config{})
		foreign := stored(t, other, data, os.O_RDONLY)
		reqs := []file.ReadRequest{{f, 0, 100}, {nil, 0, 1}, {gone, 50, 10}, {f, 100, 100}, {f, -1, 1}, {f, 0, -1}, {f, math.MaxInt64, 1}, {foreign, 0, 1}, {f, 19_999, 2}}
		for i, got := range p.ReadMany(t.Context(), reqs, file.ReadManyConfig{}) {
			switch i {
			case 0, 3, 8:
				checkResult(t, i, got, data, reqs[i])
			case 2:
				require.ErrorIs(t, got.Err, ioerr.ErrHandleNotFound)
			case 7:
				require.ErrorIs(t, got.Err, ioerr.ErrScopeMismatch)
			default:
				if e, ok := errors.AsType[*ioerr.ArgumentError](got.Err); !ok || e.Name[:6] != fmt.Sprintf("reqs[%d", i) {
					t.Errorf("%d: %v", i, got.Err)
				}
			}
		}
		for _, c := range []file.ReadManyConfig{{MaxMerged: -1}, {MaxGap: -1}, {Depth: -1}, {Depth: 1 << 16}, {Window: -1}} {
			for i, got := range p.ReadMany(t.Context(), reqs[:1], c) {
				if !errors.Is(got.Err, ioerr.ErrInvalid) {
					t.Errorf("%d, %+v: %v", i, c, got.Err)
				}
			}
		}
	})
}

func TestManyReadsEndWithTheirLoopOrContext(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		defer nothingLeft(t)()
		data := noise(1 << 20)
		f := stored(t, p, data, os.O_RDONLY)
		reqs := make([]file.ReadRequest, 256)
		for i := range reqs {
			reqs[i] = file.ReadRequest{File: f, Offset: int64(i) * 4096, Length: 4096}
		}
		why := errors.New("why")
		c := file.ReadManyConfig{MaxMerged: 8192, Depth: 4}.Slow(true)
		for stop := range 20 {
			for i, got := range p.ReadMany(t.Context(), reqs, c) {
				checkResult(t, i, got, data, reqs[i])
				if i == stop {
					break
				}
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			for i, got := range p.ReadMany(ctx, reqs, c) {
				if i == stop {
					cancel(why)
				}
				if got.Err == nil {
					checkResult(t, i, got, data, reqs[i])
					continue
				}
				ended(t, got.Err, why)
			}
			cancel(nil)
			noneLeft(t, p)
		}
	})
}

// noneLeft waits for the end of what was left on a lane.Abandoning, which bars its file.
func noneLeft(t *testing.T, p *file.Pool) {
	t.Helper()
	require.Eventually(t, func() bool { return len(p.Pool().Stats().Lane.Left) == 0 }, 10*time.Second, 100*time.Microsecond)
}

func TestManyReadsMakeDoWithTheRoomThatThereIs(t *testing.T) {
	p := newPool(t, file.Config{Threads: lane.Config{Workers: 1, Policy: lane.FailFast, Queue: lane.NoQueue}})
	data := noise(1 << 20)
	f := stored(t, p, data, os.O_RDONLY)
	reqs := make([]file.ReadRequest, 256)
	for i := range reqs {
		reqs[i] = file.ReadRequest{File: f, Offset: int64(i*37%256) * 4096, Length: 4096}
	}
	for i, got := range p.ReadMany(t.Context(), reqs, file.ReadManyConfig{MaxMerged: 1, Depth: 16}.Slow(true)) {
		checkResult(t, i, got, data, reqs[i])
	}
}

func TestManyReadsWorkInsideOfCallsAndFibers(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		data := noise(1 << 20)
		f := stored(t, p, data, os.O_RDONLY)
		all := func(ctx context.Context) error {
			reqs := []file.ReadRequest{{f, 5000, 10}, {f, 0, 4096}, {f, 90_000, 4096}, {f, 300_000, 4096}, {f, 5000, 10}}
			for i, got := range p.ReadMany(ctx, reqs, file.ReadManyConfig{}.Slow(true)) {
				checkResult(t, i, got, data, reqs[i])
			}
			return nil
		}
		require.NoError(t, p.Fiber(t.Context(), all))
		require.NoError(t, p.Pool().Offload(t.Context(), all))
	})
}

// FuzzReadMany reads pieces that the input describes, three bytes each, and compares them with
// the content of the file.
func FuzzReadMany(f *testing.F) {
	p, err := file.NewPool(file.Config{Threads: lane.Config{Workers: 4}})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, p.Close()) })
	data := noise(50_000)
	cached, direct := stored(f, p, data, os.O_RDONLY), stored(f, p, data, os.O_RDONLY)
	if d, err := p.Open(f.Context(), cached.Name(), os.O_RDONLY|file.Direct, 0); err == nil {
		direct = d
	}
	f.Add(uint16(0), uint16(0), byte(0), uint16(0), []byte{1, 2, 3, 4, 5, 6, 1, 2, 3})
	f.Add(uint16(1), uint16(4096), byte(3), uint16(9), []byte{200, 0, 255, 201, 0, 255, 0, 1, 9})
	f.Fuzz(func(t *testing.T, merged, gap uint16, depth byte, window uint16, pieces []byte) {
		var reqs []file.ReadRequest
		for ; len(pieces) >= 3; pieces = pieces[3:] {
			r := file.ReadRequest{File: cached, Offset: int64(pieces[0])*200 + int64(pieces[1]), Length: int(pieces[2]) * 20}
			if pieces[1]&1 != 0 {
				r.File = direct
			}
			reqs = append(reqs, r)
		}
		n := 0
		c := file.ReadManyConfig{MaxMerged: int(merged), MaxGap: int(gap), Depth: int(depth), Window: int(window)}
		for i, got := range p.ReadMany(t.Context(), reqs, c.Slow(window&1 != 0)) {
			if i != n {
				t.Fatalf("%d in place of %d", i, n)
			}
			n++
			checkResult(t, i, got, data, reqs[i])
		}
		if n != len(reqs) {
			t.Errorf("%d of %d", n, len(reqs))
		}
	})
}
