package pool

import (
	"context"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Offload is Run for a call that the lane runs itself: one that may never return, or
// that is for a thread of the lane's. It does so if the lane is a lane.Carrier.
//
// On a lane.Pinned fn runs on a thread of the lane (lane.ThreadOf), and its caller waits
// for it.
//
// On a lane.Abandoning fn runs on a goroutine of the lane's, and its caller may leave it:
// when ctx or the lane's limit for calls has ended, Offload returns an *ioerr.Error
// with Effect Unknown and an *ioerr.LeftError, and fn runs on without its caller. Slot,
// handle and whatever fn holds are given back when it ends, if ever. So fn must share
// no variables with its caller: what it needs it gets from its own copies, and what it
// has to say it returns. Its context ends with its caller's, but goes on to say so.
//
// A result that nobody receives any more (fn returned it after its caller had left) is
// dropped, or undone by [Undo].
//
// On any other lane Offload is Run. Unlike with Run, runtime.Goexit in fn on a lane
// that carries is an error (ErrGoexit) like any other, since it ends no goroutine of
// the caller's. fn and what it captures are allocated on the heap.
func Offload[T, R any](ctx context.Context, p *Pool[R], fn func(context.Context) (T, error), opts ...Option) (T, error) {
	c := p.own()
	carrier := c.carrierOf()
	if fn == nil || carrier == nil {
		var v T
		if _, err := undoOf[T](opts); err != nil && c != nil {
			return v, c.count(invalid(err))
		}
		return run(ctx, c, nil, nil, fn, opts)
	}
	t := newParcel[T](c)
	t.fn = fn
	if err := t.check(ctx, c, ""); err != nil {
		return t.v, err
	}
	return t.send(ctx, carrier, &c.here, callOf(opts), opts)
}

// OffloadOn is Offload with the resource that id names, as Transact is Run: fn has it
// to itself until it ends, also when its caller has left. From then on calls on the
// handle, and those that wait for it, are refused with ErrHandleBusy and an
// *ioerr.StuckError; Destroy takes it out of use, and the resource is disposed of when
// the call has ended. With Config.Share a call that was left keeps its share, and others
// are refused only where the lane does so (lane.AbandoningConfig.LeftPerHandle).
func OffloadOn[T, R any](ctx context.Context, p *Pool[R], id handle.ID, fn func(context.Context, R) (T, error), opts ...Option) (v T, err error) {
	c := p.own()
	carrier := c.carrierOf()
	if fn == nil || carrier == nil {
		if _, err := undoOf[T](opts); err != nil && c != nil {
			return v, c.count(invalid(err))
		}
		return transact(ctx, p, id, fn, opts)
	}
	t := newParcel[T](c)
	if err := t.check(ctx, c, ""); err != nil {
		return v, err
	}
	lease, err := p.borrow(ctx, id, &t.stay, opts)
	if err != nil {
		return v, err
	}
	t.fn = onResource(p, lease, fn)
	if !p.shared { // else there are other shares; how many calls on a handle may be left is the lane's business
		t.stick = p.stick(lease)
	}
	t.giveBack = func(left bool) {
		if v := &lease.Resource.site.verdict; left && !p.shared {
			v.told, v.left, v.barred = true, true, true
		}
		p.giveBack(lease)
	}
	return t.send(ctx, carrier, p.siteOf(lease), callOf(opts), opts)
}

// Offload is [Offload] for a call that has no result but an error.
func (p *Pool[R]) Offload(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if fn == nil {
		return new(stay).check(ctx, p.own(), "fn")
	}
	_, err := Offload(ctx, p, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) }, opts...)
	return err
}

// OffloadOn is [OffloadOn] for a call that has no result but an error.
func (p *Pool[R]) OffloadOn(ctx context.Context, id handle.ID, fn func(context.Context, R) error, opts ...Option) error {
	if fn == nil {
		return new(stay).check(ctx, p.own(), "fn")
	}
	_, err := OffloadOn(ctx, p, id, func(ctx context.Context, r R) (struct{}, error) { return struct{}{}, fn(ctx, r) }, opts...)
	return err
}

// stick is what makes the handle of a lease refuse callers when the call with it is left.
func (p *Pool[R]) stick(l registry.Lease[resource[R]]) func(label string, age time.Duration) {
	return func(label string, age time.Duration) {
		p.barStuck(l.Entry, label, time.Now().Add(-age), &ioerr.LeftError{Age: age})
	}
}

// carrierOf returns the lane if it runs calls itself, else nil.
func (c *core) carrierOf() lane.Carrier {
	if c == nil {
		return nil
	}
	return c.carrier
}
