package pool

import (
	"context"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// exchange is one Replace. It says nothing about the health of the old resource, which
// it does not use, nor of the new one.
type exchange[R any] struct {
	stay
	pool *Pool[R]
	open func(ctx context.Context, old R) (R, error)

	lease registry.Lease[resource[R]]
	sick  bool     // the lease is the ward's
	done  bool     // open has succeeded, and what it returned is in place
	gone  waste[R] // what is to be disposed of: the old one or, if late, the new one
	late  bool     // the handle was retired while open ran
}

// borrow gets the lease, from the ward if that keeps it.
func (x *exchange[R]) borrow(ctx context.Context, id handle.ID, opts []Option) (err error) {
	if lc := callOf(opts); !lc.Accept.IsZero() {
		x.until = &lc.Accept // for all that it waits for
	}
	defer func() {
		if x.lease.Entry == nil { // also if the caller's context panics
			x.unlist()
		}
	}()
	for {
		l, ok, wait := x.pool.ward.take(id)
		switch {
		case ok:
			x.lease, x.sick = l, true
			return nil
		case wait == nil:
			x.lease, err = x.pool.borrow(ctx, id, &x.stay, opts)
			return err
		}
		if err := x.await(ctx, id, wait, opts); err != nil {
			return err
		}
	}
}

// await waits for the end of a probe, by the rules of waiting for a handle.
func (x *exchange[R]) await(ctx context.Context, id handle.ID, wait <-chan struct{}, opts []Option) error {
	c := x.core
	lc := callOf(opts)
	refuse := func(err error) error { return c.refuse(ctx, err, ioerr.Handle, lc.Label, id) }
	outer := x.outer(ctx)
	switch {
	case outer.holdsLane(c.lane) || c.hooks.works(): // the probe may wait for the caller's slot
		return refuse(ioerr.ErrReentry)
	case lc.Policy == lane.FailFast:
		return refuse(ioerr.ErrHandleBusy)
	}
	if x.listed == nil && (lc.Label != "" || c.calls.watch != nil) {
		x.listed = c.calls.add(lc.Label, id, nil, waitsForHandle)
	}
	var expired <-chan time.Time
	if x.until != nil {
		timer := time.NewTimer(time.Until(*x.until))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return refuse(ctx.Err())
	case <-expired:
		return refuse(ioerr.ErrAcceptTimeout)
	}
}

// run opens the new resource and puts it in place.
func (x *exchange[R]) run(ctx context.Context, opts []Option) error {
	p, at, old := x.pool, x.pool.siteOf(x.lease), x.lease.Resource.value
	x.unjudged, at.opening = true, true
	if p.carrier == nil {
		defer x.giveBack(false)
		_, err := run(ctx, p.own(), at, &x.stay, func(ctx context.Context) (struct{}, error) {
			fresh, err := x.open(ctx, old)
			if err == nil {
				x.swap(old, fresh)
			}
			return struct{}{}, err
		}, opts)
		return err
	}
	t := &parcel[R]{stay: x.stay, fn: func(ctx context.Context) (R, error) { return x.open(ctx, old) }}
	t.discard = func(fresh R) {
		if !same(fresh, old) {
			p.bin.discard(p.reg.Detach(x.lease.ID, resource[R]{value: fresh}))
		}
	}
	t.stick = p.stick(x.lease)
	t.giveBack = func(left bool) {
		switch {
		case left:
		case t.taken():
			x.swap(old, t.v)
		default:
			t.undoResult() // the lane could not put its thread back
		}
		x.giveBack(left)
	}
	_, err := t.send(ctx, p.carrier, at, callOf(opts), opts)
	return err
}

// swap puts the new resource in place, under the lease.
func (x *exchange[R]) swap(old, fresh R) {
	p := x.pool
	x.late = x.lease.Retired()
	x.done = !x.late
	switch {
	case same(fresh, old): // and found fit
		return
	case x.late:
		x.gone = p.reg.Detach(x.lease.ID, resource[R]{value: fresh})
	default:
		x.lease.Resource.value = fresh
		x.gone = p.reg.Detach(x.lease.ID, resource[R]{value: old})
	}
	p.bin.discard(x.gone)
}

// giveBack ends the lease.
func (x *exchange[R]) giveBack(left bool) {
	x.lease.Resource.site.opening = false
	v := &x.lease.Resource.site.verdict
	poison := v.poison
	*v = verdict{told: left || poison != nil, given: left, left: left, barred: left, poison: poison}
	switch {
	case x.sick:
		*v = verdict{}
		x.pool.ward.giveBack(x.lease, x.done)
		return
	case x.done:
		x.pool.ward.forgive(x.lease.ID)
	}
	x.pool.giveBack(x.lease)
}
