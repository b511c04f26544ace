package lane

import (
	"fmt"

	"github.com/iolane/iolane/internal/lanegate"
)

// EventKind says what changed in the queue of a lane.
type EventKind uint8

// The edges of the queue. Busy and Idle alternate, and so do Saturated and
// Unsaturated, and Exhausted and Recovered (of an Abandoning lane); each is reported
// exactly once. The queue of urgent calls counts for
// the first two only.
const (
	Busy        = EventKind(lanegate.EdgeBusy)        // a call has to wait
	Idle        = EventKind(lanegate.EdgeIdle)        // no call waits any more
	Saturated   = EventKind(lanegate.EdgeSaturated)   // the queue is full
	Unsaturated = EventKind(lanegate.EdgeUnsaturated) // the queue has room again

	Exhausted = EventKind(lanegate.EdgeBarred)   // calls that were left hold every slot: who would wait gets ErrSaturated
	Recovered = EventKind(lanegate.EdgeUnbarred) // a slot will come free again

	Degraded = EventKind(lanegate.EdgeOther) // of a Ring: operations go to threads; see RingStats.Reason
)

// String returns the name of the edge in lower case.
func (k EventKind) String() string {
	switch k {
	case Busy:
		return "busy"
	case Idle:
		return "idle"
	case Saturated:
		return "saturated"
	case Unsaturated:
		return "unsaturated"
	case Exhausted:
		return "exhausted"
	case Recovered:
		return "recovered"
	case Degraded:
		return "degraded"
	}
	return "unknown"
}

// String tells the edge in one line.
func (e Event) String() string { return fmt.Sprintf("%s %d: %v", e.Lane, e.Shard, e.Kind) }

// Event is one edge of one queue.
type Event struct {
	Lane  string // the lane's name
	Shard int    // which queue of the lane, from 0, as in Stats.Shards; of a Ring 0 is that of operations, 1 that of calls that need a thread
	Kind  EventKind
	Seq   uint64 // counts the edges of this queue from 1, Degraded among those of a Ring's operations
}
