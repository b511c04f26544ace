package pool

import (
	"context"
	"sync"

	"github.com/iolane/iolane/internal/signal"
)

// Fiber runs fn, which does operations one after the other ([Pool.Operate]), where that
// costs least, and waits for its end.
//
// If the lane is a lane.Operator fn is one call with one slot, and runs as a coroutine of
// the lane: operations made with the context that it is given, or one made from that, cost
// no slot and no switch of goroutines. What else blocks fn holds up others on the lane for
// some milliseconds. It keeps its slot all the while: so fn must not wait for anything, such as a
// mutex, that another caller gives up only when it has had an operation done on the same
// lane. Nor may fn, or anything that it calls, keep its thread locked
// (runtime.LockOSThread) while it makes an operation: the runtime ends the process then.
// Goroutines that fn starts are not the fiber: with its context, their operations take a slot
// that is free or are refused with ErrReentry, since the fiber may wait for them.
//
// On any other lane fn runs on the caller's goroutine, without a slot: its operations take
// slots, one by one. Options but Label do not count there.
//
// Errors, panics and runtime.Goexit are as with [Pool.Do].
func (p *Pool[R]) Fiber(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	return p.own().fiber(ctx, fn, opts)
}

func (c *core) fiber(ctx context.Context, fn func(context.Context) error, opts []Option) (err error) {
	var s stay
	if err := s.check(ctx, c, lacks(fn == nil, "fn")); err != nil {
		return err
	}
	float := c.native == nil
	if float && !c.fibers.enter() {
		return c.count(&c.refusals().shutdown)
	}
	defer func() {
		if s.begun && !s.ended {
			err = s.at.unwound(recover(), s.label())
		}
		defer func() {
			if float {
				c.fibers.leave()
			}
		}()
		s.leave()
	}()
	lc := callOf(opts)
	if float {
		s.at = &c.afloat
		s.list(lc.Label, runs)
		return runFiber(s.begin(ctx), &s, fn)
	}
	s.at = &c.here
	inner, m := s.at.begin(ctx, s.plain)
	s.mark = m
	refused := s.hand(ctx, s.at, &lc, waitsForLane, func() error {
		return c.native.Fiber(inner, lc, func(ctx context.Context) { // the lane's own, unwrapped: it knows it by that
			s.list(lc.Label, runs)
			err = runFiber(ctx, &s, fn)
		})
	})
	if refused != nil {
		return refused
	}
	return err
}

// runFiber runs the function of a fiber. If that panics it does not return: on a coroutine
// this is where the panic's own stack is.
func runFiber(ctx context.Context, s *stay, fn func(context.Context) error) (err error) {
	s.begun = true
	defer func() {
		if s.ended {
			return
		}
		if r := recover(); r != nil {
			s.ended = true
			err = s.at.unwound(r, s.label())
		}
	}()
	err = fn(ctx)
	s.ended = true
	if err != nil {
		err = s.at.failed(err, s.label())
	}
	return err
}

// fibers counts the fibers that hold no slot: nobody else does.
type fibers struct {
	mu     sync.Mutex // a leaf
	n      int
	closed bool
	none   signal.Crowd // who waits until there are none
}

// enter counts one more, unless the pool shuts down.
func (f *fibers) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.n++
	}
	return !f.closed
}

func (f *fibers) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 {
		f.none.WakeAll()
	}
}

func (f *fibers) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// close lets no more in.
func (f *fibers) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

// wait waits until there are none. It reports false if ctx ended first.
func (f *fibers) wait(ctx context.Context) bool {
	f.mu.Lock()
	if f.n == 0 {
		f.mu.Unlock()
		return true
	}
	return f.none.Wait(ctx, &f.mu)
}
