package pool

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// GroupConfig makes a [Group]. The zero GroupConfig is ready to use: as many members at a
// time as the lane has slots for, and the first error calls the others off.
type GroupConfig struct {
	// Limit is how many members may run at a time. Zero: the lane is the limit.
	Limit int

	// CollectAll lets the members go on when one has failed. Wait returns all errors.
	CollectAll bool

	// Errors is how many errors are kept for Wait with CollectAll; of more than that
	// only the number is. Zero means 64.
	Errors int
}

// Group is a set of calls that are waited for, and called off, together. A member leaves
// nothing behind when it has ended but its error, so a Group may be fed for ever; after
// Wait it can be used anew. All methods may be called from any goroutine. A Group comes
// from [Pool.Group].
//
// A Group that is no longer used needs no closing, when its members have ended.
type Group struct {
	core  *core
	rules GroupConfig
	room  chan struct{} // a token for each member, up to Limit; nil: no limit

	mu     sync.Mutex // a leaf
	first  *member    // of those that have not ended
	n      int        // how many there are, and how many wait for their time
	cause  error      // why members are called off; nil: they are not
	errs   []error
	more   int // errors that are not kept
	over   signal.Crowd
	alarms alarms
}

// Group makes a Group whose members are calls of the pool. The error is an
// *ioerr.ArgumentError.
func (p *Pool[R]) Group(config GroupConfig) (*Group, error) {
	c := p.own()
	if c == nil || c.state.Load() == stateNone {
		return nil, argument("p", "pool.Pool", "was not made by pool.New")
	}
	switch {
	case config.Limit < 0:
		return nil, argument("pool.GroupConfig.Limit", config.Limit, "must not be negative")
	case config.Errors < 0:
		return nil, argument("pool.GroupConfig.Errors", config.Errors, "must not be negative")
	}
	config.Errors = cmp.Or(config.Errors, 64)
	g := &Group{core: c, rules: config}
	if config.Limit > 0 {
		g.room = make(chan struct{}, config.Limit)
	}
	g.alarms.group, g.alarms.most = g, c.lane.Stats().Workers
	return g, nil
}

// Go starts a call as a member of the group, as [Async] does: it returns when the call has
// its slot. It waits for room in the group first (Limit); from inside a member of this group
// it does not, but runs the call at once, in the caller, when there is none.
//
// The context of the call ends with ctx, and when the group is called off. If ctx is that of
// a member of this group, the new one has what that one was started with in its place, so
// that it may go on when that one has ended.
//
// An error is that of a call that was refused; it is not one of the group's. (A lane.Pinned
// that has a slot for a call and then no thread refuses it later: that is one.) The group
// itself refuses calls from the time when it was called off until Wait has returned, with
// what called it off, as Cancelled.
func (g *Group) Go(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if g.core == nil {
		return argument("g", "pool.Group", "was not made by Pool.Group")
	}
	m := &member{group: g}
	if err := m.check(ctx, g.core, lacks(fn == nil, "fn")); err != nil {
		return err
	}
	begun := false
	defer func() {
		if !begun { // also if the lane or the context panics
			g.remove(m, nil)
		}
	}()
	if err := g.enter(ctx, m, opts); err != nil {
		return err
	}
	m.calls(g.base(ctx), fn)
	if cause := g.add(m); cause != nil {
		return m.fails(g.calledOff(cause, opts))
	}
	if g.room != nil && !m.limited {
		begun = true
		m.runHere(ctx, callOf(opts).Label)
		return nil
	}
	err := m.start(ctx, g.core, false, opts)
	begun = err == nil
	return err
}

// enter waits for room, but not if the caller is a member that runs: it might hold up
// itself.
func (g *Group) enter(ctx context.Context, m *member, opts []Option) error {
	if g.room == nil {
		return nil
	}
	select {
	case g.room <- struct{}{}:
		m.limited = true
		return nil
	default:
	}
	if g.inside(ctx) && m.nested(ctx) {
		return nil
	}
	select {
	case g.room <- struct{}{}:
		m.limited = true
		return nil
	case <-ctx.Done():
		return g.core.refuse(ctx, ctx.Err(), ioerr.Executor, callOf(opts).Label, g.core.here.id)
	}
}

// note keeps the error of a member, and returns whom that calls off. mu is held.
func (g *Group) note(err error) (off []*member) {
	switch {
	case err == nil || g.cause != nil && !g.rules.CollectAll:
		return nil
	case !g.rules.CollectAll:
		off = g.stop(err)
	}
	g.keep(err)
	return off
}

func (g *Group) keep(err error) {
	if len(g.errs) < g.rules.Errors {
		g.errs = append(g.errs, err)
		return
	}
	g.more++
}

// stop lets nobody in any more, and returns whom to call off. mu is held.
func (g *Group) stop(cause error) (off []*member) {
	g.cause = cause
	for m := g.first; m != nil; m = m.next {
		off = append(off, m)
	}
	g.done(g.alarms.drop())
	return off
}

// callOff ends contexts, which may run code of others: not under mu.
func callOff(off []*member, cause error) {
	for _, m := range off {
		m.callOff(cause)
	}
}

// done counts members that have ended. mu is held.
func (g *Group) done(n int) {
	if g.n -= n; g.n == 0 {
		g.over.WakeAll()
	}
}

// Cancel calls off all members that there are: their contexts end with the cause (nil:
// context.Canceled), those that wait for a slot or for their time are dropped. Wait
// returns it as an error, and must be called before the group can be used again.
func (g *Group) Cancel(cause error) {
	if g.core == nil {
		return
	}
	if cause == nil {
		cause = context.Canceled
	}
	told := &ioerr.Error{
		Outcome: outcomeOfCause(cause), Origin: ioerr.Executor, Effect: ioerr.Unknown, Lane: g.core.lane.Name(), Err: cause,
	}
	g.mu.Lock()
	var off []*member
	if g.cause == nil {
		off = g.stop(cause)
		g.keep(told)
	}
	g.mu.Unlock()
	callOff(off, cause)
}

func outcomeOfCause(cause error) ioerr.Outcome {
	if errors.Is(cause, context.DeadlineExceeded) {
		return ioerr.TimedOut
	}
	return ioerr.Cancelled
}

// Wait waits until there is no member, and returns what went wrong: nil, the error of one
// member, or a *GroupError. Each of these is an *ioerr.Error with the label of the call; a
// panic is the *ioerr.PanicError in it. Without CollectAll there is only the first.
//
// When ctx ends, Wait calls the members off (Cancel), and goes on to wait for them.
//
// Several may wait at a time; then one of them gets the errors. From inside a member Wait
// is ErrReentry.
func (g *Group) Wait(ctx context.Context) error {
	switch {
	case g.core == nil:
		return argument("g", "pool.Group", "was not made by Pool.Group")
	case ctx == nil:
		return argument("ctx", nil, "must not be nil")
	case g.inside(ctx):
		return &g.core.refusals().inside
	}
	until := ctx
	g.mu.Lock()
	for g.n > 0 {
		if !g.over.Wait(until, &g.mu) {
			g.Cancel(context.Cause(ctx))
			until = context.Background()
		}
		g.mu.Lock()
	}
	errs, more := g.errs, g.more
	g.errs, g.more, g.cause = nil, 0, nil
	g.mu.Unlock()
	switch {
	case len(errs) == 0:
		return nil
	case len(errs) == 1 && more == 0:
		return errs[0]
	}
	return &GroupError{Errs: errs, More: more}
}
