package pool

import (
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Pool runs blocking calls on a lane and owns resources of type R that they use.
// Use [New]; the zero Pool refuses everything. All methods may be called from any
// goroutine. A Pool must be closed with Shutdown or Close.
type Pool[R any] struct {
	core

	reg  *registry.Registry[resource[R]]
	bin  bin[R]  // resources on their way out
	ward ward[R] // resources that are not well

	interrupt func(R)       // Config.Interrupt
	turn      chan struct{} // capacity one; held by the Shutdown that is at work
	laneGone  bool          // the lane that the pool owns is shut down; for the holder of turn
}

// resource is what the registry keeps: the user's resource and, so that calls
// need not make one, the site of its transactions. Both are for the holder of the
// lease alone. With shares whoever opens the resource sets value and site, and nothing
// here is written after that (see shared).
type resource[R any] struct {
	value R
	site  *site
	hung  *interruption[R] // a hook of the call that has ended, and does not end itself
}

// New makes a pool. Its error is an *ioerr.Error with an *ioerr.ArgumentError
// that names the field, or with an *ioerr.ThreadLimitError for a lane of its own that
// might need more threads than the process may have.
func New[R any](config Config[R]) (*Pool[R], error) {
	c, err := config.complete()
	if err == nil && c.Lane == nil {
		c.OwnsLane = true
		c.Lane, err = lane.NewThreads(c.Threads)
	}
	if err != nil {
		return nil, invalid(err)
	}
	p := &Pool[R]{
		reg:  registry.NewShared[resource[R]](c.Share, c.Waiters, c.Patience),
		turn: make(chan struct{}, 1),
	}
	p.lane, p.owned, p.unguarded, p.shared = c.Lane, c.OwnsLane, c.Unguarded, c.Share > 1
	p.owner = p.reg.Scope()
	p.gated, _ = c.Lane.(lane.Gated)
	p.carrier, _ = c.Lane.(lane.Carrier)
	p.native, _ = c.Lane.(lane.Operator)
	switch l := c.Lane.(type) { // by type: one that embeds them has an Enter and a Leave of its own
	case *lane.Threads:
		p.direct = l.Gate()
	case *lane.Inline:
		p.direct = l.Gate()
	}
	p.sharded = p.direct == nil && len(c.Lane.Stats().Shards) > 1
	if !p.owned || p.gated == nil {
		p.gate = lanegate.New(lanegate.Config{Slots: lanegate.MaxSlots, Tickets: new(lanegate.Tickets)})
	}
	if p.gate == nil && c.Interrupt == nil && c.Watch == (Watch{}) && !c.Health.on() {
		p.short = p.direct
	}
	p.here.init(&p.core, handle.ID{})
	p.afloat.init(&p.core, handle.ID{})
	p.giveUp.cause, p.draining.cause = ioerr.ErrShutdown, ioerr.ErrShutdown
	p.over.from(&p.past)
	p.bin.core, p.bin.reg, p.bin.hook = &p.core, p.reg, c.Dispose
	p.hooks.core, p.hooks.within = &p.core, c.HookWithin
	p.interrupt = c.Interrupt
	p.ward.pool, p.ward.check, p.rules = p, c.Check, c.Health
	p.events.fn, p.events.lane = c.OnEvent, c.Lane.Name()
	p.calls.epoch = time.Now()
	if p.judges = c.Health.on(); p.judges || c.Watch != (Watch{}) {
		p.calls.watch = &watch{
			rules: c.Watch, stuck: c.Health.Stuck, calls: &p.calls, lane: c.Lane, post: p.events.post, due: never, turn: make(chan struct{}, 1),
		}
	}
	p.hookFailed = p.bin.hookFailed
	p.state.Store(stateOpen)
	return p, nil
}

// own returns the core, also of a nil pool.
func (p *Pool[R]) own() *core {
	if p == nil {
		return nil
	}
	return &p.core
}
