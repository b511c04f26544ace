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
	next, prev *member
}

// calls says what a member does, with a context made from base.
func (m *member) calls(base context.Context, fn func(context.Context) error) {
	g := m.group
	m.derive(base)
	m.fn = func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(&groupContext{ctx, g, base}) }
	m.end = func(_ struct{}, err error) { g.remove(m, err) }
}

// add makes m a member, unless the group is called off.
func (g *Group) add(m *member, opts []Option) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		g.leaveRoom(m)
		return g.calledOff(opts)
	}
	g.n++
	g.link(m)
	return nil
}

// join makes m, which is counted already, a member; or reports that the group was called
// off meanwhile.
func (g *Group) join(m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		g.leaveRoom(m)
		g.done(1)
		return false
	}
	g.link(m)
	return true
}

// calledOff is the error of a call that comes too late. mu is held.
func (g *Group) calledOff(opts []Option) error {
	return g.core.count(&ioerr.Error{
		Outcome: ioerr.Cancelled, Origin: ioerr.Executor, Effect: ioerr.None,
		Label: callOf(opts).Label, Lane: g.core.lane.Name(), Err: g.cause,
	})
}

func (g *Group) link(m *member) {
	if m.next = g.first; m.next != nil {
		m.next.prev = m
	}
	g.first = m
}

func (g *Group) leaveRoom(m *member) {
	if m.limited {
		<-g.room
	}
}

// remove forgets a member. err is what it ended with.
func (g *Group) remove(m *member, err error) {
	g.mu.Lock()
	if m.prev == nil {
		g.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	}
	off := g.note(err)
	g.leaveRoom(m)
	g.done(1)
	g.mu.Unlock()
	callOff(off, err)
}
