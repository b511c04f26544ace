package lane

import (
	"cmp"
	"runtime"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
)

// Config makes a lane. The zero Config is ready to use.
type Config struct {
	// Name names the lane in errors, events and statistics.
	Name string

	// Workers is how many calls may run at a time, 1 to 65,535.
	// Zero means GOMAXPROCS. See the package documentation for how to choose it.
	Workers int

	// Threadless says that calls do not block their threads: they wait for the network
	// or for other goroutines. Workers is then not held against the limits of the
	// process on threads; see the package documentation, "Threads".
	Threadless bool

	// Queue is how many accepted calls may wait for a slot, up to 2^24.
	// Zero means 256; NoQueue means none: then a call is accepted when it gets a slot.
	Queue int

	// Waiters is how many callers may wait for acceptance when the queue is full,
	// up to 2^26. Zero means 4 x Queue, or 1024 with NoQueue; NoWaiters means none.
	Waiters int

	// Policy is for calls that choose none. Zero means Wait.
	Policy Policy

	// Order is the order of service among accepted calls. Zero means FIFO.
	Order Order

	// Patience is how long a waiter may be overtaken by calls that find a slot
	// free on arrival. That keeps convoys of short calls from forming; a waiter
	// that has waited so long is served before any newcomer. Zero means 1 ms;
	// Strict, like any negative value, means that nobody is ever overtaken.
	Patience time.Duration

	// Reserved is how many of the Workers only urgent calls may use, fewer than
	// Workers. Urgent calls wait in a queue of their own, with the same bounds.
	Reserved int

	// PerKey is how many calls with the same Call.Key may run at a time, 1 to
	// 65,535. Zero means no limit. A caller that waits for its key has no place
	// in the queue yet: each key in use has its own Waiters, and a call that fails
	// fast (ErrKeyBusy) or does not wait is refused; an urgent call waits for its key
	// like any other. SetKeyLimit makes exceptions.
	PerKey int

	// OnEvent is called at each edge of the queue, in order, one call at a time,
	// outside all locks, on a goroutine that lives only as long as there is
	// something to report. Of a lane with several queues (Event.Shard) that holds for each of them,
	// and two may call at once. It holds up no call. Shutdown waits for it, so it must not
	// call Shutdown. A panic in it is counted and otherwise ignored.
	OnEvent func(Event)
}

// Special values for Config.
const (
	NoQueue   = -1                // for Queue
	NoWaiters = -1                // for Waiters
	Strict    = time.Duration(-1) // for Patience
)

// Defaults and limits.
const (
	defaultQueue    = 256
	defaultPatience = time.Millisecond

	maxWorkers = 1<<16 - 1
	maxQueue   = 1 << 24
	maxWaiters = 1 << 26
)

// complete checks the Config and fills in the defaults. In the result Queue and
// Waiters are the true numbers.
func (c Config) complete(workers int) (Config, error) {
	if c.Workers == 0 {
		c.Workers = min(workers, maxWorkers)
	}
	switch {
	case c.Queue == 0:
		c.Queue = defaultQueue
	case c.Queue == NoQueue:
		c.Queue = 0
	case c.Queue < 0 || c.Queue > maxQueue:
		return c, bad("Queue", c.Queue, "must be 1 to 2^24, 0 for the default, or NoQueue")
	}
	switch {
	case c.Waiters == 0:
		c.Waiters = 4 * cmp.Or(c.Queue, defaultQueue)
	case c.Waiters == NoWaiters:
		c.Waiters = 0
	case c.Waiters < 0 || c.Waiters > maxWaiters:
		return c, bad("Waiters", c.Waiters, "must be 1 to 2^26, 0 for the default, or NoWaiters")
	}
	if c.Policy == 0 {
		c.Policy = Wait
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	switch {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return c, bad("Workers", c.Workers, "must be 1 to 65535, or 0 for the default")
	case c.Policy > FailFast:
		return c, bad("Policy", c.Policy, "is none of the policies")
	case c.Order > LIFO:
		return c, bad("Order", c.Order, "is none of the orders")
	case c.Reserved < 0 || c.Reserved >= c.Workers:
		return c, bad("Reserved", c.Reserved, "must be 0 or more and less than Workers")
	case c.PerKey < 0 || c.PerKey > maxWorkers:
		return c, bad("PerKey", c.PerKey, "must be 1 to 65535, or 0 for no limit")
	}
	return c, nil
}

func bad(field string, value any, reason string) error {
	return &ioerr.ArgumentError{Name: "lane.Config." + field, Value: value, Reason: reason}
}

// gate makes the gate of one shard from a complete Config.
func (c *Config) gate(shard int, tickets *lanegate.Tickets) *lanegate.Gate {
	g := lanegate.Config{
		Slots:    c.Workers,
		Reserved: c.Reserved,
		Queue:    c.Queue,
		Waiters:  c.Waiters,
		FailFast: c.Policy == FailFast,
		LIFO:     c.Order == LIFO,
		Patience: c.Patience,
		Tickets:  tickets,
	}
	if fn := c.OnEvent; fn != nil {
		name := c.Name
		g.OnEdge = func(e lanegate.Edge) {
			fn(Event{Lane: name, Shard: shard, Kind: EventKind(e.Kind), Seq: e.Seq})
		}
	}
	return lanegate.New(g)
}

func procs() int { return runtime.GOMAXPROCS(0) }
