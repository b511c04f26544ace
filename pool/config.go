package pool

import (
	"reflect"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Config makes a Pool. The zero Config is ready to use: a Threads lane of the
// pool's own with default settings, and resources that need no disposal.
type Config[R any] struct {
	// Lane is where calls run. Nil means a new lane.Threads made from Threads,
	// which the pool owns.
	Lane lane.Lane

	// OwnsLane says that the pool shuts Lane down at its own shutdown and that
	// nobody else uses it. A lane that several pools share must not be owned.
	OwnsLane bool

	// Threads makes the pool's own lane when Lane is nil, and must be zero
	// otherwise.
	Threads lane.Config

	// Interrupt makes a call on a resource end whose context has ended, or which a
	// shutdown gives up on: it sets a deadline in the past, cancels a query, aborts a
	// handshake. It is called at most once for each transaction, while that runs, on a
	// goroutine of its own, under no lock; the transaction is not over before Interrupt
	// has returned, so that it cannot meet the next one. What the transaction returns
	// then is its result. Nil means that calls are not interrupted.
	//
	// Its effect may last: a deadline in the past stays there. So a transaction that may
	// be interrupted begins with putting that right, then looks whether its context has
	// ended already, and only then blocks; see the example.
	Interrupt func(R)

	// Check says whether a resource is fit for use. It is called on the lane, while no
	// call uses the resource, and must not make calls on the lane; see Health. Nil means
	// that there is no telling but by calls.
	Check func(R) error

	// Health says when a resource is not to be used for a while. Zero: it always is.
	Health HealthRules

	// Watch says what is worth an event. Zero: no call is watched.
	Watch Watch

	// OnEvent is called for each event, in order, one at a time, outside all locks, on a
	// goroutine that lives only as long as there is something to report. It holds up no
	// call; of one that is far behind some are dropped (Stats.EventsMissed). Shutdown
	// waits for it, so it must not call Shutdown. A panic in it is counted and otherwise
	// ignored.
	OnEvent func(Event)

	// Dispose gives a resource back to where it came from: closes the file, frees
	// the C object. It is called exactly once for each resource that the pool
	// owned, on the lane, under no lock, never while a call uses the resource. It
	// must not make calls on the lane itself: it holds a slot of it. On a lane.Pinned it
	// runs on a thread of the lane; if none can be had (*ioerr.StartError) it does not
	// run, which is reported like its failure.
	// Nil means that there is nothing to do.
	Dispose func(R) error

	// HookWithin is how long Dispose, Check and Interrupt may take until the pool stops
	// waiting for them: they are then reported as failed (ErrHookTimeout) and their slot
	// is given to others, while they go on running; the resource stays with Check and
	// Interrupt until they end. Until then they hold a slot like any call. At most 32
	// hooks are given up on at a time, since each keeps its thread; while there are so
	// many, others keep their slots. On a lane with threads of its own (lane.Pinned) they
	// keep their thread in any case. Zero means 30 s.
	HookWithin time.Duration

	// Share is how many calls may use one resource at a time: for resources that are safe
	// for that, such as files that are read and written at given positions. Each takes one
	// share of it, whatever function it is made with, and callers wait when there is none.
	// The resource is disposed of when the last share has been given back. Health, Check
	// and Interrupt are about one call that has the resource to itself, and so is Replace:
	// they are not for resources with shares. Zero means 1, exclusive use; at most 65,535.
	Share int

	// Waiters is how many callers may wait for one resource, up to 2^26. Zero
	// means 64; lane.NoWaiters means none.
	Waiters int

	// Patience is how long a caller that waits for a resource may be overtaken by
	// callers that find it free on arrival; as lane.Config.Patience.
	Patience time.Duration

	// Unguarded switches the re-entry guard off. Calls then get their caller's
	// context as it is, which saves an allocation for a cancellable one. The price:
	// a nested call that waits for what its caller holds waits until its context
	// ends, Shutdown from inside a call waits for itself, and calls do not learn
	// when Shutdown gives up on them.
	Unguarded bool
}

const (
	defaultWaiters    = 64
	defaultPatience   = time.Millisecond
	defaultHookWithin = 30 * time.Second

	maxWaiters = 1 << 26
	maxShare   = 1<<16 - 1
)

// complete checks the Config and fills in the defaults, but for the lane. In the
// result Waiters is the true number.
func (c Config[R]) complete() (Config[R], error) {
	switch {
	case c.Waiters == 0:
		c.Waiters = defaultWaiters
	case c.Waiters == lane.NoWaiters:
		c.Waiters = 0
	case c.Waiters < 0 || c.Waiters > maxWaiters:
		return c, badField("Waiters", c.Waiters, "must be 1 to 2^26, 0 for the default, or lane.NoWaiters")
	}
	if c.Share == 0 {
		c.Share = 1
	}
	if c.Share < 0 || c.Share > maxShare {
		return c, badField("Share", c.Share, "must be 1 to 65535, or 0 for 1")
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	switch {
	case c.HookWithin < 0:
		return c, badField("HookWithin", c.HookWithin, "must be positive, or 0 for the default")
	case c.HookWithin == 0:
		c.HookWithin = defaultHookWithin
	}
	if err := c.Watch.check(); err != nil {
		return c, err
	}
	if err := c.exclusive(); err != nil {
		return c, err
	}
	var err error
	if c.Health, err = c.Health.complete(); err != nil {
		return c, err
	}
	if c.Check != nil && !c.Health.on() {
		return c, badField("Check", "set", "is never called: Health has no rule that takes a handle down")
	}
	if isNil(c.Lane) {
		if c.Lane != nil {
			return c, badField("Lane", c.Lane, "holds nil")
		}
		if c.OwnsLane {
			return c, badField("OwnsLane", true, "there is no Lane to own; the pool owns the one it makes")
		}
		return c, nil
	}
	switch {
	case !reflect.ValueOf(c.Lane).Comparable():
		return c, badField("Lane", reflect.TypeOf(c.Lane), "is not comparable")
	case !reflect.ValueOf(c.Threads).IsZero():
		return c, badField("Threads", c.Threads, "must be zero when Lane is set")
	}
	return c, nil
}

// exclusive refuses what needs exclusive use.
func (c *Config[R]) exclusive() error {
	switch {
	case c.Share == 1:
	case c.Interrupt != nil:
		return badField("Interrupt", "set", "is for exclusive use: Share must be 1")
	case c.Check != nil:
		return badField("Check", "set", "is for exclusive use: Share must be 1")
	case c.Health.on():
		return badField("Health", c.Health, "is for exclusive use: Share must be 1")
	}
	return nil
}

func isNil(l lane.Lane) bool {
	if l == nil {
		return true
	}
	v := reflect.ValueOf(l)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Chan) && v.IsNil()
}

func badField(field string, value any, reason string) error {
	return &ioerr.ArgumentError{Name: "pool.Config." + field, Value: value, Reason: reason}
}
