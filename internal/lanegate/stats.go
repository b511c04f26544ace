package lanegate

import "time"

// counts are the counters of the slow half, guarded by the gate's mutex. The
// fast half needs none: the shards' words count what was started.
type counts struct {
	refused  [Hopeless + 1]uint64 // by verdict; left before acceptance counts here
	dropped  uint64               // left the queue after acceptance, or sent away from it
	promoted uint64               // from the waiting room into the queue
	returned uint64               // slots handed over to a caller that had just left
	waits    uint64
	waitSum  int64
	waitMax  int64
}

func (c *counts) waited(ns int64) {
	c.waits++
	c.waitSum += ns
	c.waitMax = max(c.waitMax, ns)
}

// Stats is one snapshot of a gate.
type Stats struct {
	Slots   int // as configured or resized
	Running int
	Queued  int // accepted, not yet started
	Waiting int // not yet accepted

	Started   uint64 // calls that got a slot
	Completed uint64 // = Started - Running
	Dropped   uint64 // accepted calls that left before they started, or were sent away by Bar
	Promoted  uint64
	Refused   [Hopeless + 1]uint64 // by verdict

	Waits    uint64 // calls that have stood in line and left it
	WaitSum  time.Duration
	WaitMax  time.Duration
	Panicked uint64 // edge callbacks that panicked
	Missed   uint64 // edges that a slow callback made disappear in pairs
}

// Stats returns a snapshot. Each shard's word tells started and running at one
// moment, so Started = Completed + Running holds at any time. A caller that was
// handed a slot counts as queued until it comes, beyond the bound of the queue: it
// may be one that has given up.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &g.counts
	s := Stats{
		Slots:    g.slots,
		Running:  -g.withheldSlots(),
		Dropped:  c.dropped + c.returned,
		Promoted: c.promoted,
		Refused:  c.refused,
		Waits:    c.waits,
		WaitSum:  time.Duration(c.waitSum),
		WaitMax:  time.Duration(c.waitMax),
		Panicked: g.edges.panics.Load(),
		Missed:   g.edges.missed.Load(),
		Started:  -c.returned,
	}
	s.Refused[Full] += g.rejected.Load()
	for i := range g.lines {
		s.Queued += g.lines[i].queue.n
		s.Waiting += g.lines[i].room.n
	}
	for i := range g.shards {
		w := g.shards[i].word.Load()
		s.Running += int(w & running)
		s.Started += w / oneStarted
	}
	n := int(g.arriving.Load()) // after the words: who has come since is in them
	s.Running -= n
	s.Started -= uint64(n)
	s.Queued += n
	s.Completed = s.Started - uint64(s.Running)
	return s
}
