package lane

import (
	"sync/atomic"

	"github.com/iolane/iolane/internal/fileop"
)

// RingStats is about the rings of a Ring lane. Each operation that the lane has admitted
// counts once when it ends: Served + Cached + Threads + Dropped is how many have. One that
// the ring did not do after all is among Threads, and in Fallback.
type RingStats struct {
	Rings  int   // in use
	Reason error // why there is none, or one was taken out of use; an *ioerr.RingError; or nil

	Served   uint64 // operations that a ring has done, or had begun with when they were called off
	Cached   uint64 // reads of what was in the page cache
	Missed   uint64 // reads that looked there in vain
	Dropped  uint64 // operations called off before a ring had begun with them, or between two transfers of one
	Threads  uint64 // operations that needed a thread
	Fallback uint64 // of these, those that the ring was asked for first

	Registered int64 // bytes of file.Buffers that transfers need not look up

	Enters    uint64 // system calls to the rings
	Kicks     uint64 // times that a driver had to be woken in one
	Retries   uint64 // operations that were lost with the thread that had submitted them, and done again
	TakeOvers uint64 // drivers started because a fiber was blocked
}

// ringCounts is what the lane itself counts.
type ringCounts struct {
	cached, missed, threads, fallback atomic.Uint64
	registered                        atomic.Pointer[fileop.Slab]
}

// Stats implements [Lane]. The first of Shards is about operations that go to the ring, the
// second about calls that need a thread.
func (l *Ring) Stats() Stats {
	ops, calls := l.operations.Stats(), l.gated.Stats()
	sum := ops
	sum.add(calls)
	sum.Shards = []Stats{ops, calls}
	sum.Ring = RingStats{
		Cached:   l.count.cached.Load(),
		Missed:   l.count.missed.Load(),
		Threads:  l.count.threads.Load(),
		Fallback: l.count.fallback.Load(),
	}
	r := &sum.Ring
	if s := l.count.registered.Load(); s != nil {
		r.Registered = int64(s.Len())
	}
	if err := l.reason.Load(); err != nil {
		r.Reason = *err
	}
	for _, d := range l.rings {
		if d.Down() == nil {
			r.Rings++
		}
		s := d.Stats()
		r.Served += s.Operations
		r.Dropped += s.Dropped
		r.Enters += s.Enters
		r.Kicks += s.Kicks
		r.Retries += s.Retries
		r.TakeOvers += s.TakeOvers
	}
	return sum
}
