package pool

import (
	"context"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/lane"
)

// mark is the context that a call gets: the caller's values, deadline and
// cancellation, a note of what the call holds (so that a nested call can tell
// that it would wait for itself), and cancellation when the pool's shutdown gives
// up on the call, with ErrShutdown as cause.
//
// The two cancellations are joined only when the call asks for Done, or for Err
// after the pool gave up: most calls never do.
type mark struct {
	context.Context // the caller's
	site            *site
	joined          atomic.Pointer[joined]
}

// joined is a context that ends with the caller's or when the pool gives up.
type joined struct {
	context.Context
	cancel context.CancelCauseFunc
	stop   func() bool
	ended  atomic.Bool // the call has
}

// markKey finds the innermost mark of a context.
type markKey struct{}

func markOf(ctx context.Context) *mark {
	m, _ := ctx.Value(markKey{}).(*mark)
	return m
}

// Value answers for the mark itself, then as the context that is in force (which
// is how the context package finds out about ends and causes), then as the caller's.
func (m *mark) Value(key any) any {
	if key == (markKey{}) {
		return m
	}
	if c := m.inForce(); c != nil {
		if v := c.Value(key); v != nil {
			return v
		}
	}
	return m.Context.Value(key)
}

// Done implements context.Context.
func (m *mark) Done() <-chan struct{} {
	if c := m.inForce(); c != nil {
		return c.Done()
	}
	return m.join().Done()
}

// Err implements context.Context.
func (m *mark) Err() error {
	if c := m.inForce(); c != nil {
		return c.Err()
	}
	return m.Context.Err()
}

// inForce is the context that tells of the end of this one: that of the pool if
// the caller's never ends, else the joined one if there has to be one by now, else
// nil for the caller's.
func (m *mark) inForce() context.Context {
	giveUp := &m.site.core.giveUp
	if c := m.joined.Load(); c != nil {
		return c
	}
	if m.Context.Done() == nil {
		return giveUp
	}
	if giveUp.Err() != nil {
		return m.join()
	}
	return nil
}

// join makes the joined context, once.
func (m *mark) join() *joined {
	if c := m.joined.Load(); c != nil {
		return c
	}
	giveUp := &m.site.core.giveUp
	ctx, end := context.WithCancelCause(m.Context)
	cancel := func(cause error) { endContext(end, cause) } // it is called on goroutines where nobody would catch a panic
	c := &joined{Context: ctx, cancel: cancel}
	c.stop = context.AfterFunc(giveUp, func() { cancel(context.Cause(giveUp)) })
	if giveUp.Err() != nil {
		cancel(context.Cause(giveUp)) // AfterFunc would do it, but in its own time
	}
	if !m.joined.CompareAndSwap(nil, c) {
		c.end()
		c = m.joined.Load()
	}
	return c
}

// from makes the one that stands for all contexts of calls that have ended, with a
// context that it ends.
func (c *joined) from(past *lazyContext) {
	past.cause = context.Canceled
	past.end()
	c.Context = past
	c.cancel = func(error) {} // a lane may call off a call that has just ended
	c.stop = func() bool { return false }
	c.ended.Store(true)
}

func (c *joined) end() {
	c.stop()
	c.cancel(context.Canceled)
}

// end ends the context with the call: what was derived from it is over, and
// whoever kept it finds it so and leaves nothing behind.
func (m *mark) end() {
	if m.joined.CompareAndSwap(nil, &m.site.core.over) {
		return
	}
	c := m.joined.Load()
	c.ended.Store(true)
	c.end()
}

// outer is the mark of the call around this one, or nil.
func (m *mark) outer() *mark { return markOf(m.Context) }

// holds reports whether the caller is inside a call that match accepts. Calls that
// have ended do not count, though somebody may have kept their context; of a call
// made with context.Background() that cannot be told.
func (m *mark) holds(match func(*site) bool) bool {
	for ; m != nil; m = m.outer() {
		if c := m.joined.Load(); (c == nil || !c.ended.Load()) && match(m.site) {
			return true
		}
	}
	return false
}

func (m *mark) holdsLane(l lane.Lane) bool {
	return m.holds(func(s *site) bool { return s.core.lane == l && s != &s.core.afloat })
}

func (m *mark) holdsHandle(id handle.ID) bool {
	return m.holds(func(s *site) bool { return s.id == id && !id.IsZero() })
}

func (m *mark) holdsPool(c *core) bool {
	return m.holds(func(s *site) bool { return s.core == c })
}
