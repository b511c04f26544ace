package lane

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/ringdriver"
	"github.com/iolane/iolane/ioerr"
)

// RingConfig makes a Ring lane.
type RingConfig struct {
	// Config is that of operations: Workers is how many may be in progress at a time, up to
	// 65,000. Zero means 64. Name, Policy, Patience, PerKey and OnEvent hold for all calls.
	Config

	// Threads is how many calls may run at a time that need a thread: functions, and
	// operations that the ring does not do. They have a queue of their own, with the same
	// bounds. Zero means GOMAXPROCS x 4, at least 8.
	Threads int

	// Rings is how many rings there are, each with a driver of its own, up to 64. A ring
	// keeps about one processor busy. Zero means GOMAXPROCS / 4, at least 1.
	Rings int

	// KernelThreads is how many threads the kernel may have, for each thread that a driver
	// has been on, to do what cannot be done without blocking. Zero means 4.
	KernelThreads int

	// Required makes NewRing fail where there can be no ring. Otherwise such a lane does
	// its operations on Threads, and says so; see RingStats.Reason.
	Required bool

	// NoInline switches off the reading of cached data on the goroutine of the caller.
	NoInline bool

	driver ringdriver.Config // for tests
}

const (
	defaultDepth         = 64
	maxDepth             = 65000 // what fits into one ring
	defaultKernelThreads = 4
	maxRings             = 64
)

// Ring does operations on files (package file) by io_uring, without a thread for each.
//
// Reads and writes with direct I/O, reads of what is not in the page cache, transfers of
// pipes and terminals, and sleeps go to the kernel's ring. What is in the page cache is
// read at once by the caller, which is faster. All else (opening, syncing, buffered
// writes, …) goes to threads, since the kernel would only do it on threads of its own,
// and slower; and so do functions (pool.Run, Transact). [Capabilities] tells.
//
// An operation that the ring does is called off when its context ends; not so what goes to
// threads, but for file.Config.Interrupt. If the kernel can do so in time nothing
// has happened; a transfer from or to a disk it does not stop. Either way the caller
// waits for the operation's own end, after which nobody touches the buffer any more.
//
// A ring acts with the rights that the process had when it was made: make it after
// giving up privileges.
//
// Where the system denies a ring, for whatever reason, the lane works without.
type Ring struct {
	gated            // calls that need a thread
	operations gated // the others
	rings      []*ringdriver.Driver
	turn       atomic.Uint64 // round robin over the rings
	noInline   bool
	native     Ops
	reason     atomic.Pointer[error] // why there is no ring
	count      ringCounts
	signal     fileop.Signal // for operations on threads
}

// NewRing makes a Ring lane. It must be shut down: one that is forgotten keeps its driver and
// its share of the process's threads. Its error is an *ioerr.ArgumentError that names the field,
// an *ioerr.ThreadLimitError, or, if a ring is Required, an *ioerr.RingError.
func NewRing(c RingConfig) (*Ring, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	l := &Ring{noInline: c.NoInline}
	threads := c.Config
	threads.Workers, threads.Reserved = c.Threads, 0
	if l.share, err = c.claim(c.Threads + c.Rings*(1+2*c.KernelThreads)); err != nil {
		return nil, err
	}
	l.gated.init(threads, 1, 1, false)
	l.operations.init(c.Config, 0, 1, false)
	l.operations.keyring = &l.keys
	if err := l.open(c); err != nil && c.Required {
		l.share.Release()
		return nil, err
	}
	l.native = l.nativeOps()
	return l, nil
}

// open makes the rings. The error is that of the first one; with fewer than wanted, because
// of a limit on memory, say, the lane is well.
func (l *Ring) open(c RingConfig) error {
	down := func(err error) { l.degrade(&ioerr.RingError{Lane: c.Name, Err: err}) }
	dc := c.driver
	dc.Slots, dc.Workers, dc.OnDown = c.Workers, c.KernelThreads, func(err error) {
		if c.driver.OnDown != nil {
			c.driver.OnDown(err)
		}
		down(err)
	}
	for range c.Rings {
		d, err := ringdriver.New(dc)
		switch {
		case err == nil:
			l.rings = append(l.rings, d)
		case len(l.rings) == 0:
			down(err)
			return *l.reason.Load()
		}
	}
	return nil
}

// complete checks the config and fills in the defaults.
func (c RingConfig) complete() (RingConfig, error) {
	complain := func(field string, value any, reason string) (RingConfig, error) {
		return c, &ioerr.ArgumentError{Name: "lane.RingConfig." + field, Value: value, Reason: reason}
	}
	var err error
	if c.Config, err = c.Config.complete(defaultDepth); err != nil {
		return c, err
	}
	c.Threads = cmp.Or(c.Threads, max(4*procs(), 8))
	c.Rings = cmp.Or(c.Rings, max(procs()/4, 1))
	c.KernelThreads = cmp.Or(c.KernelThreads, defaultKernelThreads)
	switch {
	case c.Workers > maxDepth:
		return complain("Workers", c.Workers, "must be at most 65000")
	case c.Threads < 1 || c.Threads > maxWorkers:
		return complain("Threads", c.Threads, "must be 1 to 65535, or 0 for the default")
	case c.Rings < 1 || c.Rings > maxRings:
		return complain("Rings", c.Rings, "must be 1 to 64, or 0 for the default")
	case c.KernelThreads < 1 || c.KernelThreads > maxWorkers:
		return complain("KernelThreads", c.KernelThreads, "must be 1 to 65535, or 0 for the default")
	}
	return c, nil
}

// degrade notes that a ring cannot be used, or not any more.
func (l *Ring) degrade(err error) {
	if l.reason.CompareAndSwap(nil, &err) {
		l.operations.gates[0].Announce(lanegate.EdgeOther)
	}
}

// Gate is the gate of calls that need a thread, for package pool; see Threads.Gate.
func (l *Ring) Gate() *lanegate.Gate { return l.gate() }

// Capabilities returns best-effort execution, since operations may be called off, and the
// operations that the ring does.
func (l *Ring) Capabilities() Capabilities {
	return Capabilities{Execution: BestEffort, Native: l.native}
}

// Seal implements [Gated].
func (l *Ring) Seal() {
	l.gated.Seal()
	l.operations.Seal()
}

// Evict implements [Gated].
func (l *Ring) Evict(owner uint64) {
	l.gated.Evict(owner)
	l.operations.Evict(owner)
}

// Forget implements [Gated].
func (l *Ring) Forget(owner uint64) {
	l.gated.Forget(owner)
	l.operations.Forget(owner)
}

// Drain implements [Gated]. An operation may go on to a thread, but never the other way;
// so threads come last.
func (l *Ring) Drain(ctx context.Context) error {
	if err := l.operations.Drain(ctx); err != nil {
		return err
	}
	return l.gated.Drain(ctx)
}

// Shutdown implements [Lane]. When the last operation has ended it closes the rings, and without an
// error no goroutine of theirs is left. A ring in which something of the kernel's does not end is
// left, and an error; another Shutdown closes it when that has ended.
func (l *Ring) Shutdown(ctx context.Context) error {
	if ctx == nil {
		return noContext()
	}
	l.Seal()
	if err := l.operations.stop(ctx); err != nil {
		return err
	}
	if err := l.gated.stop(ctx); err != nil {
		return err
	}
	var left error // of one ring; the others are closed all the same
	for _, d := range l.rings {
		if err := d.Close(ctx); err != nil && left == nil {
			left = err
		}
	}
	if left != nil {
		return left
	}
	// A ring may have failed in its last moments, and be reported only now.
	if err := l.operations.Drain(ctx); err != nil {
		return err
	}
	l.signal.Release()
	l.share.Release()
	return nil
}

// pick is a ring that can be used, or nil.
func (l *Ring) pick() *ringdriver.Driver {
	n := uint64(len(l.rings))
	if n == 1 && l.rings[0].Down() == nil {
		return l.rings[0]
	}
	for range n {
		if d := l.rings[l.turn.Add(1)%n]; d.Down() == nil {
			return d
		}
	}
	return nil
}

// reset makes an operation ready to be done.
func reset(op *Op) {
	op.N, op.Err = 0, nil
	if op.Kind == fileop.Sleep {
		op.Len = 0 // an engine keeps the end there
	}
}
