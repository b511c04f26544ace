package interrupt

import (
	"context"
	"sync"
)

// Set is calls that are interrupted together: all under one context, or all of a
// lane. A call that joins a set which has been interrupted is asked at once. The
// zero Set is empty and ready; it must not be copied after first use.
//
// Add and Remove allocate nothing. Remove waits for a sender who is at the call,
// and from then on the set does not touch the call: it may be used again.
type Set struct {
	mu    sync.Mutex
	asked bool
	first *Call
	empty chan struct{} // made for whoever waits; closed when the last call goes
}

// Add makes c a member. A call is in one set at most.
func (s *Set) Add(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.set != nil {
		panic("interrupt: one call in two sets")
	}
	c.set, c.prev, c.next = s, nil, s.first
	if s.first != nil {
		s.first.prev = c
	}
	s.first = c
	if s.asked {
		c.Ask()
	}
}

// Remove takes c out, when its call has ended.
func (s *Set) Remove(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.set != s {
		panic("interrupt: call removed from a set it is not in")
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		s.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.set, c.prev, c.next = nil, nil, nil
	if s.first == nil && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

// ask asks each member once. It holds the lock of the set for all that time, some
// microseconds for each call that is in a section.
func (s *Set) ask() (left <-chan struct{}, slow bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
	busy := false
	slow = true
	for c := s.first; c != nil; c = c.next {
		if left, hopeless := c.ask(); left != nil {
			busy = true
			slow = slow && hopeless
		}
	}
	if !busy {
		return nil, false
	}
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	return s.empty, slow
}

// Interrupt interrupts all members as [Call.Interrupt] does, and asks all who join
// later. It returns nil when each member has acknowledged, which it may notice
// with a delay, or the cause of ctx if that ends first.
func (s *Set) Interrupt(ctx context.Context) error { return resend(ctx, s.ask) }

// Watch interrupts the set when ctx ends, as [Call.Watch] does for a call: one
// registration for all calls under ctx.
func (s *Set) Watch(ctx context.Context) (stop func() bool) {
	return watch(ctx, s.end)
}

// end is Interrupt without a bound, which fails for no other reason.
func (s *Set) end() { _ = s.Interrupt(context.Background()) }
