package lend

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
)

// reason is why a resource was closed.
type reason uint8

const (
	idleReason reason = iota
	lifetimeReason
	checkReason
	brokenReason
	surplusReason
	reasons
)

type counts struct {
	lent, opened, openFailed uint64
	closed                   [reasons]uint64
}

// Stats is a snapshot of a [Lender].
type Stats struct {
	Capacity int // as configured or resized
	Open     int // resources that exist, those included that are being opened or closed
	Lent     int // to calls and loans
	Idle     int
	Opening  int
	Closing  int
	Waiting  int // callers that wait for a resource

	LentTotal   uint64 // how often one was lent, or opened for somebody
	OpenedTotal uint64
	OpenFailed  uint64
	Closed      Closed
	Refused     Refused

	Waits   Histogram     // how long those waited who waited, whether they got a resource or not
	WaitMax time.Duration // the longest of these
	Opens   Histogram     // how long openings took, those that failed included
}

// Closed is how many resources were closed, and why.
type Closed struct {
	Idle     uint64 // Config.IdleTime
	Lifetime uint64 // Config.Lifetime
	Check    uint64 // Config.Check, or a probe of the pool's Health, or poison
	Broken   uint64 // a call panicked, was left, or told so (Config.Broken, pool.Poison), or Loan.Discard
	Surplus  uint64 // Resize, or the end of the lending
}

// Refused is how many callers got nothing, and why.
type Refused struct {
	Exhausted  uint64 // ErrExhausted
	Overloaded uint64 // ErrBorrowersFull
	Expired    uint64 // ErrAcceptTimeout
	Cancelled  uint64 // the caller's context ended while he waited, in line or for an opening
	Reentry    uint64 // ErrReentry
	Shutdown   uint64 // ErrShutdown
}

// Stats returns a snapshot. That of a Lender which was not made by New is zero.
func (l *Lender[R]) Stats() Stats {
	if l.made() != nil {
		return Stats{}
	}
	g := l.gate.Stats()
	refused := func(v lanegate.Verdict) uint64 { return g.Refused[v] + l.refused[v].Load() }
	s := Stats{
		Waiting: g.Waiting, Waits: l.waits.read(), Opens: l.openings.read(), WaitMax: time.Duration(l.waits.most.Load()),
		Refused: Refused{
			Exhausted: refused(lanegate.Full), Overloaded: refused(lanegate.Overloaded), Expired: refused(lanegate.Expired),
			Cancelled: refused(lanegate.Ended), Reentry: l.refused[lanegate.Busy].Load(), Shutdown: refused(lanegate.Closed),
		},
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.counts
	s.Capacity, s.Open, s.Idle, s.Opening, s.Closing = l.capacity, l.existing, len(l.idle), l.opening, l.closing
	s.Lent = s.Open - s.Idle - s.Opening - s.Closing
	s.LentTotal, s.OpenedTotal, s.OpenFailed = c.lent, c.opened, c.openFailed
	s.Closed = Closed{
		c.closed[idleReason], c.closed[lifetimeReason], c.closed[checkReason], c.closed[brokenReason], c.closed[surplusReason],
	}
	return s
}

// Histogram counts durations: its i-th field those from 2^(i-1) up to 2^i ns, its first
// those of no time at all.
type Histogram [64]uint64

// Count is how many durations there are.
func (h *Histogram) Count() (n uint64) {
	for _, c := range h {
		n += c
	}
	return n
}

// Quantile is what the part q (0 to 1) of the durations does not exceed, rounded up to a power
// of two less one; 0 if there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if !(q > 0) { // nor is it a number, perhaps
		q = 0
	}
	rest := uint64(math.Ceil(min(q, 1) * float64(h.Count())))
	for i, c := range h {
		if c > 0 && c >= rest {
			return time.Duration(uint64(1)<<i - 1)
		}
		rest -= min(rest, c)
	}
	return 0
}

// histogram is a Histogram that is being made.
type histogram struct {
	counts [64]atomic.Uint64
	most   atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	h.counts[bits.Len64(uint64(max(d, 0)))].Add(1)
	for m := h.most.Load(); int64(d) > m && !h.most.CompareAndSwap(m, int64(d)); m = h.most.Load() {
	}
}

func (h *histogram) read() (r Histogram) {
	for i := range h.counts {
		r[i] = h.counts[i].Load()
	}
	return r
}
