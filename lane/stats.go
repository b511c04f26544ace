package lane

import (
	"time"

	"github.com/iolane/iolane/internal/lanegate"
)

// Stats is one snapshot of a lane. Its sums hold in every snapshot:
//
//	Accepted  = Started + Queued + Dropped
//	Started   = Completed + Running
//	Submitted = Accepted + Waiting + Refused
type Stats struct {
	Name    string
	Workers int // slots, as configured or resized

	Running int // calls that run now
	Queued  int // accepted calls that wait for a slot
	Waiting int // callers that wait for acceptance, or for their key

	Submitted uint64
	Accepted  uint64
	Started   uint64
	Completed uint64
	Dropped   uint64 // accepted calls that did not start: their context ended, ErrSaturated, or there was no thread
	Promoted  uint64 // accepted after waiting for acceptance
	Refused   Refused

	Waits   uint64        // calls that stood in the queue and left it
	WaitSum time.Duration // how long they stood there, in total
	WaitMax time.Duration // the longest of them

	Left      []LeftCall // calls left running that have not ended, in the order in which they were left
	LeftTotal uint64     // calls ever left; they count as completed

	Threads ThreadStats // of a Pinned lane
	Ring    RingStats   // of a Ring lane

	CallbackPanics uint64 // panics in Config.OnEvent
	EventsMissed   uint64 // events that a callback far behind did not get, always in pairs

	// Shards is the same for each shard, if there are several. What was refused
	// before it came to a shard (a busy key, a dead context) is in the sum alone. A
	// call on a borrowed slot waits in one shard and starts in another.
	Shards []Stats
}

// Refused counts callers that never got in, by reason.
type Refused struct {
	QueueFull  uint64 // ErrQueueFull, ErrKeyBusy
	Stuck      uint64 // *ioerr.StuckError, ErrSaturated: because of calls that were left
	Overloaded uint64 // ErrOverloaded
	Reentry    uint64 // ErrReentry
	Expired    uint64 // ErrAcceptTimeout
	Cancelled  uint64 // the context ended before the caller was accepted
	Shutdown   uint64 // ErrShutdown
}

// ThreadStats is about the threads of a Pinned lane.
type ThreadStats struct {
	Alive   int    // those included that start, end or are kept
	Kept    int    // tainted ones that sleep until the shutdown
	Vacant  int    // how many the lane lacks, because they could not start
	Retired uint64 // tainted ones ever taken out of service, the kept ones too
}

// Total is the sum of all reasons.
func (r Refused) Total() uint64 {
	return r.QueueFull + r.Stuck + r.Overloaded + r.Reentry + r.Expired + r.Cancelled + r.Shutdown
}

// Stats implements [Lane].
func (g *gated) Stats() Stats {
	sum := g.dead.stats()
	sum.Name = g.name
	for _, gate := range g.gates {
		s := stats(gate.Stats())
		if len(g.gates) > 1 {
			sum.Shards = append(sum.Shards, s)
		}
		sum.add(s)
	}
	sum.add(stats(g.keys.stats()))
	return sum
}

func (d *dead) stats() Stats {
	r := Refused{Cancelled: d.cancelled.Load(), Shutdown: d.shutdown.Load()}
	return Stats{Submitted: r.Total(), Refused: r}
}

func stats(s lanegate.Stats) Stats {
	t := Stats{
		Workers:   s.Slots,
		Running:   s.Running,
		Queued:    s.Queued,
		Waiting:   s.Waiting,
		Started:   s.Started,
		Completed: s.Completed,
		Dropped:   s.Dropped,
		Promoted:  s.Promoted,
		Refused: Refused{
			QueueFull:  s.Refused[lanegate.Full],
			Stuck:      s.Refused[lanegate.Hopeless],
			Overloaded: s.Refused[lanegate.Overloaded],
			Reentry:    s.Refused[lanegate.Busy],
			Expired:    s.Refused[lanegate.Expired],
			Cancelled:  s.Refused[lanegate.Ended],
			Shutdown:   s.Refused[lanegate.Closed],
		},
		Waits:          s.Waits,
		WaitSum:        s.WaitSum,
		WaitMax:        s.WaitMax,
		CallbackPanics: s.Panicked,
		EventsMissed:   s.Missed,
	}
	t.Accepted = t.Started + uint64(t.Queued) + t.Dropped
	t.Submitted = t.Accepted + uint64(t.Waiting) + t.Refused.Total()
	return t
}

func (s *Stats) add(t Stats) {
	s.Workers += t.Workers
	s.Running += t.Running
	s.Queued += t.Queued
	s.Waiting += t.Waiting
	s.Submitted += t.Submitted
	s.Accepted += t.Accepted
	s.Started += t.Started
	s.Completed += t.Completed
	s.Dropped += t.Dropped
	s.Promoted += t.Promoted
	s.Refused.QueueFull += t.Refused.QueueFull
	s.Refused.Stuck += t.Refused.Stuck
	s.Refused.Overloaded += t.Refused.Overloaded
	s.Refused.Reentry += t.Refused.Reentry
	s.Refused.Expired += t.Refused.Expired
	s.Refused.Cancelled += t.Refused.Cancelled
	s.Refused.Shutdown += t.Refused.Shutdown
	s.Waits += t.Waits
	s.WaitSum += t.WaitSum
	s.WaitMax = max(s.WaitMax, t.WaitMax)
	s.CallbackPanics += t.CallbackPanics
	s.EventsMissed += t.EventsMissed
}
