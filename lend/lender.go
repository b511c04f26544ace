package lend

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// Lender lends the resources of a pool that it has opened. Use [New]; the zero Lender refuses
// everything. All its methods may be called from any goroutine. It ends with its pool, or
// before with Shutdown or Close.
type Lender[R any] struct {
	pool     *pool.Pool[R]
	config   Config[R]        // complete
	gate     *lanegate.Gate   // of rights; see exist
	refusals func() *refusals // built when they are needed
	name     func() string
	lane     string // its name
	epoch    time.Time
	timed    bool        // some rule asks how old resources are
	unwatch  func() bool // stops listening for the end of the pool
	held     func(bool)  // hears whether there are resources; or nil

	// mu is held for a few steps: nobody's code runs under it. Before gate's, and before
	// Keyed.mu.
	mu       sync.Mutex
	idle     []*item // the one that was given back last at the end
	existing int     // idle, lent, being opened or closed
	opening  int
	ahead    int // of these, those that are opened ahead of need
	closing  int
	capacity int
	closed   bool
	tend     tending
	gone     signal.Crowd // those who wait until nothing exists
	counts   counts

	waits, openings histogram
	refused         [lanegate.Hopeless + 1]atomic.Uint64 // beside those whom the gate has refused
}

// item is a resource. Who has it, alone, has its right.
type item struct {
	id    handle.ID
	seat  uint32      // its right is the slot of this shard of the gate; or noSeat: it is idle
	turn  uint64      // how often it was given back: a loan that is over is of another turn; by mu
	bad   atomic.Bool // it is not to be lent again
	ends  int64       // when its life does, in ns since the epoch
	since int64       // when it was given back

	failed atomic.Bool // the last call with it
}

const (
	never  = math.MaxInt64
	noSeat = math.MaxUint32
)

// New makes a lender of resources that are opened in p and belong to it. Its error is an
// *ioerr.Error with an *ioerr.ArgumentError that names the field, or with ErrShutdown.
func New[R any](p *pool.Pool[R], config Config[R]) (*Lender[R], error) {
	l, err := newLender(p, config)
	if err != nil {
		return nil, err
	}
	if l.unwatch = context.AfterFunc(p.Draining(), l.shut); p.Draining().Err() != nil {
		return nil, &l.refusals().shutdown
	}
	l.warm()
	return l, nil
}

// newLender checks what it is given.
func newLender[R any](p *pool.Pool[R], config Config[R]) (*Lender[R], error) {
	c, err := config.complete()
	if err != nil {
		return nil, err
	}
	switch {
	case p == nil:
		return nil, bad("p", nil, "must not be nil")
	case p.Stats().State == 0:
		return nil, bad("p", "pool.Pool", "was not made by pool.New")
	}
	base := &Lender[R]{pool: p, config: c, lane: p.Stats().Lane.Name}
	return base.another(func() string { return c.Name }), nil
}

// another makes a lender like this one, with nothing in it. Its name is asked for in errors
// only, under no lock: it may run code of a key's.
func (l *Lender[R]) another(name func() string) *Lender[R] {
	c, lane := &l.config, l.lane
	return &Lender[R]{
		pool: l.pool, config: *c, lane: lane, name: name, refusals: sync.OnceValue(func() *refusals { return newRefusals(lane, name()) }),
		gate:     lanegate.New(lanegate.Config{Slots: c.Capacity, Waiters: c.Waiters, Patience: c.Patience, Tickets: new(lanegate.Tickets)}),
		capacity: c.Capacity,
		epoch:    time.Now(),
		timed:    c.IdleTime > 0 || c.Lifetime > 0 || c.Check != nil || c.MinIdle > 0,
	}
}

// now is in ns since the epoch, or 0 if nobody cares.
func (l *Lender[R]) now() int64 {
	if !l.timed {
		return 0
	}
	return int64(time.Since(l.epoch))
}

// life is when a resource that is opened now ends.
func (l *Lender[R]) life() int64 {
	d := l.config.Lifetime
	if d == 0 {
		return never
	}
	return after(l.now(), d-rand.N(d/10+1))
}

// after is d after a time; never, if there is no such time.
func after(at int64, d time.Duration) int64 {
	if int64(d) > never-at {
		return never
	}
	return at + int64(d)
}

// Resize changes the capacity. When there are more resources than that, idle ones are closed
// at once and others when they are given back; until then there are more. The error is an
// *ioerr.ArgumentError.
func (l *Lender[R]) Resize(capacity int) error {
	if err := l.made(); err != nil {
		return err
	}
	if capacity < max(1, l.config.MinIdle) || capacity > maxCapacity {
		return bad("capacity", capacity, "must be 1 to 65535, and not less than MinIdle")
	}
	l.mu.Lock()
	l.gate.Resize(capacity)
	l.capacity = capacity
	var surplus []*item
	for l.existing-l.closing > capacity && len(l.idle) > 0 {
		surplus = append(surplus, l.idle[0])
		l.idle = l.idle[1:]
		l.closes(surplusReason)
	}
	l.mu.Unlock()
	for _, it := range surplus {
		go l.destroy(it)
	}
	l.warm()
	return nil
}

// made refuses what was not made by New.
func (l *Lender[R]) made() error {
	if l == nil || l.pool == nil {
		return bad("l", "lend.Lender", "was not made by lend.New")
	}
	return nil
}

// refusals are built once, so that refusing allocates nothing.
type refusals struct{ exhausted, full, late, reentry, shutdown ioerr.Error }

func newRefusals(lane, name string) *refusals {
	by := func(o ioerr.Outcome, err error) ioerr.Error {
		return ioerr.Error{Outcome: o, Origin: ioerr.Handle, Effect: ioerr.None, Lane: lane, Lender: name, Err: err}
	}
	return &refusals{
		exhausted: by(ioerr.Failed, ioerr.ErrExhausted),
		full:      by(ioerr.Failed, ioerr.ErrBorrowersFull),
		late:      by(ioerr.TimedOut, ioerr.ErrAcceptTimeout),
		reentry:   by(ioerr.Failed, ioerr.ErrReentry),
		shutdown:  by(ioerr.ShutdownInProgress, ioerr.ErrShutdown),
	}
}
