package file

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/iolane/iolane/pool"
)

// ReadRequest is one of many reads: Length bytes, up to 1 GiB, from Offset of File.
type ReadRequest struct {
	File   *File
	Offset int64
	Length int
}

// ReadResult is what came of a [ReadRequest].
type ReadResult struct {
	// Data is what was read. It is in a buffer that is used again: it may be used until the
	// body of the loop ends, must not be changed, and may share its bytes with others.
	Data []byte

	// Err is nil if Data has the length that was asked for. It is io.EOF by itself if the
	// file ends before, and else an *ioerr.Error, as from Pool.Do, with an *OffsetError
	// if the read has begun; with an *ioerr.ArgumentError if the request makes no sense.
	Err error
}

// ReadManyConfig says how [Pool.ReadMany] reads. The zero ReadManyConfig is ready to use.
type ReadManyConfig struct {
	// MaxMerged is how long a read may become because requests are merged, in bytes, up to
	// 1 GiB. Zero means 512 KiB; 1 merges none but requests within one another.
	MaxMerged int

	// MaxGap is how many bytes that nobody has asked for may be read between two requests
	// to merge them. Zero means none. What a direct file has to be aligned to comes on top.
	MaxGap int

	// Depth is how many reads may be in flight at a time. Zero means as many as the lane has
	// slots, but no more than 64.
	Depth int

	// Window is how many bytes may be read ahead of the request whose turn it is, and so how
	// far apart in reqs requests can be that are merged. It bounds the memory of all buffers, up to
	// what one read needs on top. Zero means 16 MiB.
	Window int

	slow bool // for tests; see pace
}

const (
	defaultMerged = 512 << 10
	mostAtATime   = 64
	defaultWindow = 16 << 20
)

// ReadMany reads many pieces of files, and yields what came of each in the order of reqs,
// with its index, as soon as that and all before it are there:
//
//	for i, got := range files.ReadMany(ctx, reqs, file.ReadManyConfig{}) {
//		if got.Err != nil {
//			return fmt.Errorf("request %d: %w", i, got.Err)
//		}
//		use(got.Data)
//	}
//
// Requests of one file that touch or overlap, or nearly so (MaxGap), become one read,
// wherever in reqs they are within Window. Of a direct file whole aligned pieces are read,
// so requests need not be aligned, and cost no copy. An error is that of the requests
// that need the faulty place, and of no others. opts go with each read.
//
// When the loop is left, or ctx ends, what is in flight is called off, as far as the lane
// can do that, and waited for. On a lane.Abandoning it is left when ctx ends, but not when
// the loop is.
//
// A config that makes no sense is the error of every request, an *ioerr.ArgumentError in
// an *ioerr.Error.
func (p *Pool) ReadMany(ctx context.Context, reqs []ReadRequest, c ReadManyConfig, opts ...pool.Option) iter.Seq2[int, ReadResult] {
	return func(yield func(int, ReadResult) bool) {
		err := cmp.Or(p.open(), noContext(ctx))
		if err == nil {
			c, err = c.complete(p)
		}
		if err != nil {
			for i := range reqs {
				if !yield(i, ReadResult{Err: err}) {
					return
				}
			}
			return
		}
		inner, cancel := context.WithCancel(ctx)
		m := p.newReadMany(inner, reqs, c, opts)
		defer cancel()
		defer m.drain()
		if !p.carries { // else they would be left, and bar their files until they end
			defer cancel()
		}
		m.run(yield)
	}
}

// complete checks the config and fills in the defaults.
func (c ReadManyConfig) complete(p *Pool) (ReadManyConfig, error) {
	fields := []struct {
		name         string
		value        *int
		most, preset int
	}{
		{"MaxMerged", &c.MaxMerged, maxBlock, defaultMerged},
		{"MaxGap", &c.MaxGap, maxBlock, 0},
		{"Depth", &c.Depth, math.MaxUint16, 0},
		{"Window", &c.Window, math.MaxInt / 2, defaultWindow},
	}
	for _, f := range fields {
		if *f.value < 0 || *f.value > f.most {
			return c, bad("file.ReadManyConfig."+f.name, *f.value, fmt.Sprintf("must be at least 0, at most %d", f.most))
		}
		if *f.value == 0 {
			*f.value = f.preset
		}
	}
	if c.Depth == 0 {
		c.Depth = min(max(p.files.Stats().Lane.Workers, 1), mostAtATime)
	}
	return c, nil
}

// check refuses a request that makes no sense.
func (r *ReadRequest) check(i int) error {
	field := func(name string, value any, reason string) error {
		return bad(fmt.Sprintf("reqs[%d].%s", i, name), value, reason)
	}
	switch {
	case r.File == nil:
		return field("File", nil, "must not be nil")
	case r.File.file == nil:
		return field("File", "file.File", "was not made by a file.Pool")
	case r.Length < 0 || r.Length > maxBlock:
		return field("Length", r.Length, "must be 0 to 1 GiB")
	case r.Offset < 0 || r.Offset > math.MaxInt64-2*maxBlock:
		return field("Offset", r.Offset, "must be at least 0, and below 2^63 - 2 GiB")
	}
	return nil
}
