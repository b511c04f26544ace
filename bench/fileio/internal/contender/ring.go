package contender

import (
	"errors"
	"fmt"

	"github.com/iolane/iolane/bench/fileio/internal/work"
	"github.com/iolane/iolane/lane"
)

// newRing makes a ring lane. What is unsupported, here or by the kernel, matches
// errors.ErrUnsupported.
func newRing(c lane.Config) (lane.Operator, error) {
	return nil, fmt.Errorf("there is no ring lane yet: %w", errors.ErrUnsupported)
}

// ringBuffers makes the buffers of operations on a ring lane: registered ones where it has
// such.
func ringBuffers(_ lane.Operator, n, size int, huge bool) (work.Buffers, error) {
	return work.MapBuffers(n, size, huge)
}

// noRing says why there is none.
func noRing() error {
	l, err := newRing(lane.Config{Workers: 1, Threadless: true})
	if err != nil {
		return err
	}
	return shut(l)
}
