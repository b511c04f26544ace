// Package hist counts durations in buckets whose width grows with the value: 32 for
// each power of two, so that a quantile is right to 2 %.
package hist

import (
	"math"
	"math/bits"
	"time"
)

const (
	subBits = 5
	sub     = 1 << subBits
	// longest is what does not fit: 68 s and all beyond share the last bucket.
	longest = 1<<36 - 1
	buckets = (36-subBits)*sub + sub
)

// Hist is a histogram. The zero value is empty. It has one user at a time.
type Hist struct {
	counts [buckets]uint32
	n      uint64
}

// Add counts one duration.
func (h *Hist) Add(d time.Duration) {
	h.counts[bucket(uint64(min(max(d, 0), longest)))]++
	h.n++
}

// Merge counts what the other one has counted.
func (h *Hist) Merge(o *Hist) {
	for i, n := range &o.counts {
		h.counts[i] += n
	}
	h.n += o.n
}

// Count is how many durations there are.
func (h *Hist) Count() uint64 { return h.n }

// Quantile is the duration that a share q of all do not exceed: the middle of its bucket.
// Zero if nothing was counted.
func (h *Hist) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(uint64(math.Ceil(q*float64(h.n))), 1)
	seen := uint64(0)
	for i, n := range &h.counts {
		if seen += uint64(n); seen >= rank {
			return middle(i)
		}
	}
	return longest
}

// bucket is exact below 2*sub; above, the sub highest values of each power of two share.
func bucket(v uint64) int {
	if v < sub {
		return int(v)
	}
	e := bits.Len64(v) - subBits - 1
	return e*sub + int(v>>e)
}

func middle(i int) time.Duration {
	if i < 2*sub {
		return time.Duration(i)
	}
	e := i/sub - 1
	low := uint64(i-e*sub) << e
	return time.Duration(low + (1<<e)/2)
}
