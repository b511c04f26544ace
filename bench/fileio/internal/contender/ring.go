package contender

import (
	"github.com/iolane/iolane/bench/fileio/internal/work"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
)

// newRing makes a ring lane. Where there can be no ring the error is an *ioerr.RingError.
func newRing(c lane.Config) (*lane.Ring, error) {
	return lane.NewRing(lane.RingConfig{Config: c, Required: true})
}

// ringBuffers makes the buffers of operations on a ring lane: registered ones, as
// file.Config.Buffers has them, where the limit on locked memory allows it.
func ringBuffers(l *lane.Ring, n, size int, huge bool) (work.Buffers, error) {
	b, err := work.MapBuffers(n, size, huge)
	if err == nil && len(b.Whole) > 0 {
		_ = l.RegisterBuffers(fileop.NewSlab(b.Whole, size))
	}
	return b, err
}

// noRing says why there is none.
func noRing() error {
	l, err := newRing(lane.Config{Workers: 1, Threadless: true})
	if err != nil {
		return err
	}
	return shut(l)
}
