package pool

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Run runs fn once on the pool's lane and returns its result. ctx bounds the wait
// for admission; once fn runs, Run waits for its end and returns what really
// happened, also when ctx ends meanwhile.
//
// fn gets a context with the values, deadline and cancellation of ctx, which is
// also cancelled (cause ErrShutdown) when Shutdown gives up on the call. Pass it
// on to nested calls: it is how a call that would wait for itself is told apart.
// It is valid until fn returns.
//
// The error is always an *ioerr.Error. If fn returned an error or panicked, that
// is Err, with Origin Leaf and Effect Done. Otherwise fn never ran: ErrQueueFull,
// ErrOverloaded, ErrAcceptTimeout, ErrReentry, ErrShutdown, the context's cause,
// or an *ioerr.ArgumentError. If fn ends its goroutine (runtime.Goexit, or
// FailNow in a test), everything is given back and the goroutine ends.
func Run[T, R any](ctx context.Context, p *Pool[R], fn func(context.Context) (T, error), opts ...Option) (v T, err error) {
	c := p.own()
	if fn != nil && len(opts) == 0 && c.open() {
		if plain := identical(ctx, context.Background()); plain || alive(ctx) {
			if seat, ok := c.short.Try(); ok {
				return runShort(ctx, plain, &c.here, seat, fn)
			}
		}
	}
	return run(ctx, c, nil, nil, fn, opts)
}

// run checks a call, gets it into the lane, runs it, and gets it out again. at is what
// it holds; nil is for a call without a handle. was is what was found out about the call
// while it waited for its handle, or nil.
func run[T any](ctx context.Context, c *core, at *site, was *stay, fn func(context.Context) (T, error), opts []Option) (v T, err error) {
	var s stay
	if was != nil {
		s.core, s.until, s.listed, s.unjudged = c, was.until, was.listed, was.unjudged
	}
	defer func() {
		if s.begun && !s.ended {
			err = s.at.unwound(recover(), s.label())
		}
		s.leave()
	}()
	if err := s.check(ctx, c, lacks(fn == nil, "fn")); err != nil {
		return v, err
	}
	if at == nil {
		at = &c.here
	}
	ticket, err := s.enter(ctx, at, opts)
	if ticket != nil {
		seat, verdict := c.direct.Wait(ctx, ticket)
		err = s.take(ctx, seat, verdict)
	}
	if err != nil {
		return v, err
	}
	v, err = fn(s.begin(ctx))
	s.ended = true
	if err != nil {
		err = at.failed(err, s.label())
	}
	return v, err
}

// Do is Run for a call that has no result but an error.
func (p *Pool[R]) Do(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if fn == nil {
		return new(stay).check(ctx, p.own(), "fn")
	}
	_, err := Run(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) }, opts...)
	return err
}

// Transact is Run with the resource that id names, which fn has to itself until
// it returns; fn must not keep it. Callers of one resource are served in order.
// They wait for the resource first and for the lane after that, so a caller that
// waits for a busy resource takes up no place in the lane.
//
// A panic in fn leaves the resource in the pool; whether it is still fit for use
// is for the caller to judge, who may Destroy or Replace it.
//
// Beside the errors of Run there are ErrHandleNotFound, ErrScopeMismatch,
// ErrWaitersFull, ErrHandleBusy (with FailFast), and ErrReentry for a call from
// inside a transaction on the same handle, or from inside any call of the lane if
// the handle is in use.
func Transact[T, R any](ctx context.Context, p *Pool[R], id handle.ID, fn func(context.Context, R) (T, error), opts ...Option) (v T, err error) {
	c := p.own()
	var lease registry.Lease[resource[R]]
	if plain := identical(ctx, context.Background()); fn != nil && len(opts) == 0 && c.open() && (plain || alive(ctx)) {
		var ok bool
		if lease, ok = p.reg.Try(id); ok {
			defer p.giveBack(lease)
			at := p.siteOf(lease)
			call := func(ctx context.Context) (T, error) { return fn(ctx, lease.Resource.value) } // p.interrupt closes the short way
			if seat, ok := c.short.Try(); ok {
				return runShort(ctx, plain, at, seat, call)
			}
			return run(ctx, c, at, nil, call, nil)
		}
	}
	return transact(ctx, p, id, fn, opts)
}

// transact is Transact the long way.
func transact[T, R any](ctx context.Context, p *Pool[R], id handle.ID, fn func(context.Context, R) (T, error), opts []Option) (v T, err error) {
	var s stay
	if err := s.check(ctx, p.own(), lacks(fn == nil, "fn")); err != nil {
		return v, err
	}
	lease, err := p.borrow(ctx, id, &s, opts)
	if err != nil {
		return v, err
	}
	defer p.giveBack(lease)
	return run(ctx, s.core, p.siteOf(lease), &s, onResource(p, lease, fn), opts)
}

// With is Transact for a call that has no result but an error.
func (p *Pool[R]) With(ctx context.Context, id handle.ID, fn func(context.Context, R) error, opts ...Option) error {
	if fn == nil {
		return new(stay).check(ctx, p.own(), "fn")
	}
	_, err := Transact(ctx, p, id, func(ctx context.Context, r R) (struct{}, error) { return struct{}{}, fn(ctx, r) }, opts...)
	return err
}

// Scoped opens something, uses it and disposes of it, in one call of the lane:
// for a resource that is needed once. It takes one slot, once. If open failed,
// its error is all there is. Once open has succeeded, dispose runs, also when use
// panics or ends its goroutine; the errors of use and of dispose (the latter as an
// *ioerr.HookError) are both kept. If the call was refused nothing was opened.
//
// S need not be the pool's type of resource. dispose may be nil.
func Scoped[T, S, R any](ctx context.Context, p *Pool[R], open func(context.Context) (S, error), use func(context.Context, S) (T, error), dispose func(S) error, opts ...Option) (T, error) {
	if open == nil || use == nil {
		var none T
		return none, new(stay).check(ctx, p.own(), cmp.Or(lacks(open == nil, "open"), "use"))
	}
	panicked := false
	v, err := Run(ctx, p, func(ctx context.Context) (v T, err error) {
		s, err := open(ctx)
		if err != nil {
			return v, err
		}
		if dispose != nil {
			defer func() {
				if r := recover(); r != nil {
					panicked = true
					err = &ioerr.PanicError{Value: r, Stack: debug.Stack()}
				}
				callHook("dispose", nil, func() error { return dispose(s) }, func(derr error) {
					err = errors.Join(err, derr)
				})
			}()
		}
		return use(ctx, s)
	}, opts...)
	if panicked {
		p.counts.panicked.Add(1)
	}
	return v, err
}

// borrow acquires the lease of a handle.
func (p *Pool[R]) borrow(ctx context.Context, id handle.ID, s *stay, opts []Option) (lease registry.Lease[resource[R]], err error) {
	if lease, ok := p.reg.Try(id); ok {
		return lease, nil
	}
	lc := callOf(opts)
	if s.until != nil {
		lc.Accept = *s.until
	} else if !lc.Accept.IsZero() {
		until := lc.Accept // for the wait for the lane as well
		s.until = &until
	}
	outer := s.outer(ctx)
	inside := outer.holdsHandle(id)
	if inside && !p.shared { // else there may be a share left
		return lease, p.refuse(ctx, ioerr.ErrReentry, ioerr.Handle, lc.Label, id)
	}
	if lc.Label != "" || p.calls.watch != nil {
		if s.listed == nil {
			s.listed = p.calls.add(lc.Label, id, nil, waitsForHandle)
		}
		defer func() {
			if lease.Entry == nil { // also if the caller's context panics
				s.unlist()
			}
		}()
	}
	lease, err = p.reg.Acquire(ctx, id, &lanegate.Request{
		FailFast: lc.Policy == lane.FailFast,
		NoWait:   inside || outer.holdsLane(p.lane), // who holds the handle may wait for the caller's slot
		Expire:   lc.Accept,
	})
	if err != nil {
		if lease.Entry != nil {
			p.bin.discard(lease.Entry)
		}
		return registry.Lease[resource[R]]{}, p.refuse(ctx, err, ioerr.Handle, lc.Label, id)
	}
	return lease, nil
}

// siteOf returns the site of the transactions on a leased resource. It is made by the
// first holder of the lease; with shares that is who opens it, before anybody else has one.
func (p *Pool[R]) siteOf(l registry.Lease[resource[R]]) *site {
	if l.Resource.site == nil {
		l.Resource.site = new(site)
		l.Resource.site.init(&p.core, l.ID)
		if p.judges {
			l.Resource.site.bar = func(label string, began time.Time, why error) { p.barStuck(l.Entry, label, began, why) }
		}
		if p.shared {
			l.Resource.site.poison = func(cause error) { p.ward.poison(l.Entry, cause) }
		}
	}
	return l.Resource.site
}

// giveBack ends a lease, unless it is to be kept from others; a resource retired
// meanwhile goes into the bin.
func (p *Pool[R]) giveBack(l registry.Lease[resource[R]]) {
	if r := &l.Resource; r.hung != nil || r.site != nil && r.site.verdict.told {
		if p.keeps(l) {
			return
		}
	}
	if l.Release() {
		p.bin.discard(l.Entry)
	}
}

// keeps hears what there is to say about a resource at the end of a lease, and reports
// whether that is not to be given back.
func (p *Pool[R]) keeps(l registry.Lease[resource[R]]) bool {
	if i := l.Resource.hung; i != nil {
		l.Resource.hung = nil
		if i.keepLease(l) {
			return true
		}
	}
	s := l.Resource.site
	v := s.verdict
	s.verdict = verdict{}
	if p.ward.admit(l, v) {
		return true
	}
	if v.barred {
		p.reg.Unbar(l.Entry)
	}
	return false
}
