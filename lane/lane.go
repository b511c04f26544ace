package lane

import (
	"context"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
)

// Lane runs calls, a bounded number at a time. All methods may be called from
// any goroutine. Implementations must be comparable with == (pointers are), since
// a pool recognises calls that come from inside the same lane.
type Lane interface {
	// Enter admits one call, waiting in the queue if the policy says so. On
	// success the caller owns the slot, runs the call, and gives the slot to
	// Leave exactly once. The error is one of ioerr.ErrQueueFull, ErrKeyBusy,
	// ErrOverloaded, ErrAcceptTimeout, ErrReentry (only with Call.NoWait), ErrShutdown,
	// an *ioerr.ArgumentError, or ctx.Err(), or, on a lane where calls come by Carry
	// alone, an *ioerr.UnsupportedError; then nothing is owned. Lifecycle comes first:
	// on a closed lane even a dead context gets ErrShutdown.
	Enter(ctx context.Context, c Call) (Slot, error)

	// Leave gives back a slot that Enter returned. The call must have ended.
	Leave(s Slot)

	// Name names the lane in errors and statistics. It may be empty.
	Name() string

	// Capabilities says truthfully how calls are run.
	Capabilities() Capabilities

	// Stats returns one consistent snapshot.
	Stats() Stats

	// Shutdown refuses newcomers and callers that are not yet accepted, and waits
	// until the accepted calls have run. ctx bounds the waiting only: after its
	// end, when ctx.Err() is returned, the lane stays closed to newcomers and
	// Shutdown may be called again. It is idempotent; concurrent callers all wait.
	Shutdown(ctx context.Context) error
}

// Gated is a lane whose admission a pool can use as its own: a pool finds out by
// itself whether its lane has these methods. A type that embeds a lane has them, too,
// by promotion, and Try then passes by an Enter of its own. The lanes of this
// package are Gated. With any other lane a pool counts its calls itself, at the
// price of two atomic operations more for each, and callers that wait in that
// lane learn of the pool's shutdown only when the lane lets them in.
type Gated interface {
	Lane

	// Try is Enter for a plain call, without its last resort: it never waits, and
	// false means only that Enter has to look.
	Try() (Slot, bool)

	// Seal refuses newcomers and callers that are not yet accepted with
	// ErrShutdown, from its return on, except for calls with Must.
	Seal()

	// Drain waits until no call is inside or in the queue of the sealed lane, or
	// returns ctx.Err().
	Drain(ctx context.Context) error

	// Evict refuses, with ErrShutdown, callers with the given Call.Owner that are
	// not yet accepted, and from its return on all that would have to wait, except
	// for calls with Must.
	Evict(owner uint64)

	// Forget undoes Evict for later callers: the lane need not remember an owner
	// that has no calls any more.
	Forget(owner uint64)
}

// Call is what a lane needs to know of one call. The zero Call is a plain one.
type Call struct {
	Label  string    // names the call for people; the lanes here do not use it
	Key    string    // counts against the limit of this key; see Config.PerKey
	Accept time.Time // when a wait for acceptance ends, in ErrAcceptTimeout; zero: never
	Handle uint64    // equal values go to the same shard of a Sharded lane; zero: any
	Owner  uint64    // whom Evict may name; zero: nobody
	Policy Policy    // zero: the lane's
	Urgent bool      // may use reserved slots, and has a queue of its own
	NoWait bool      // take a free slot or return ErrReentry: the caller already holds one
	Must   bool      // the owner's duty: passes a sealed lane and the bounds of the queue
	Beyond bool      // waits for acceptance, whatever the policy and however many do
}

// Slot is the right to run one call, from Enter to Leave.
type Slot struct {
	// Token is free for a lane to know its slot by. The lanes here keep the shard
	// of the key's gate in it.
	Token uint64

	at  lanegate.Slot
	key *keyGate // nil: the call counts against no key
}

// Policy says whether a call waits when the queue is full.
type Policy uint8

// The policies. Either way an accepted call waits in the queue for its turn.
const (
	Wait     Policy = iota + 1 // wait for acceptance, within Waiters and the call's limits
	FailFast                   // return ErrQueueFull
)

// Order says which of the accepted callers is served next.
type Order uint8

// The orders.
const (
	FIFO Order = iota // the oldest
	LIFO              // the newest: better for caches, unfair; old callers may wait long
)

// Execution says what a lane promises of an accepted call, strongest first.
type Execution uint8

// The promises.
const (
	Guaranteed Execution = iota + 1 // it runs to its end and its caller gets the result
	BestEffort                      // it may be interrupted
	Abandons                        // its caller may leave while it runs
)

// Capabilities says how a lane runs calls.
type Capabilities struct {
	DedicatedThreads bool // calls run on threads of the lane's own
	Execution        Execution
	Native           Ops // operations that need no thread
}

// Weakest is what a lane made of others can promise: dedicated threads and native
// operations only if all have them, and the weakest execution.
func Weakest(first Capabilities, rest ...Capabilities) Capabilities {
	for _, c := range rest {
		first.DedicatedThreads = first.DedicatedThreads && c.DedicatedThreads
		first.Execution = max(first.Execution, c.Execution)
		first.Native &= c.Native
	}
	return first
}
