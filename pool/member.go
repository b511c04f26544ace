package pool

import (
	"context"

	"github.com/iolane/iolane/ioerr"
)

// member is a call of a group.
type member struct {
	flight[struct{}]
	group      *Group
	limited    bool // it has a token
	counted    bool // it is one of Group.n
	next, prev *member
}

// calls says what a member does, with a context made from base.
func (m *member) calls(base context.Context, fn func(context.Context) error) {
	g := m.group
	m.plain = false // it gets a context of its own
	m.derive(base)
	m.fn = func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(&groupContext{ctx, g, base}) }
	m.end = func(_ struct{}, err error) { g.remove(m, err) }
}

// add makes m a member, unless the group is called off: then it says by what.
func (g *Group) add(m *member) (cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return g.cause
	}
	if !m.counted {
		m.counted = true
		g.n++
	}
	if m.next = g.first; m.next != nil {
		m.next.prev = m
	}
	g.first = m
	return nil
}

// calledOff is the error of a call that comes too late.
func (g *Group) calledOff(cause error, opts []Option) error {
	return g.core.count(&ioerr.Error{
		Outcome: ioerr.Cancelled, Origin: ioerr.Executor, Effect: ioerr.None,
		Label: callOf(opts).Label, Lane: g.core.lane.Name(), Err: cause,
	})
}

// remove forgets a member, or what has not become one. err is what it ended with.
func (g *Group) remove(m *member, err error) {
	g.mu.Lock()
	switch {
	case m.prev != nil:
		m.prev.next = m.next
	case g.first == m:
		g.first = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	}
	off := g.note(err)
	if m.limited {
		<-g.room
	}
	if m.counted {
		g.done(1)
	}
	g.mu.Unlock()
	callOff(off, err)
}
