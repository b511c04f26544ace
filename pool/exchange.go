package pool

import (
	"context"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
)

// exchange is one Replace.
type exchange[R any] struct {
	stay
	pool *Pool[R]
	open func(ctx context.Context, old R) (R, error)

	lease registry.Lease[resource[R]]
	sick  bool     // the lease is the ward's
	done  bool     // a new resource is in place
	gone  waste[R] // what is to be disposed of: the old one or, if late, the new one
	late  bool     // the handle was retired while open ran
}

// borrow gets the lease, from the ward if that keeps it.
func (x *exchange[R]) borrow(ctx context.Context, id handle.ID, opts []Option) (err error) {
	if x.lease, x.sick = x.pool.ward.take(ctx, id); !x.sick {
		x.lease, err = x.pool.borrow(ctx, id, &x.stay, opts)
	}
	return err
}

// run opens the new resource and puts it in place.
func (x *exchange[R]) run(ctx context.Context, opts []Option) error {
	p, at, old := x.pool, x.pool.siteOf(x.lease), x.lease.Resource.value
	if p.carrier == nil {
		defer x.giveBack()
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
	t.undo = func(fresh R) error {
		if !same(fresh, old) {
			p.bin.discard(p.reg.Detach(x.lease.ID, resource[R]{value: fresh}))
		}
		return nil
	}
	p.stickOn(t, x.lease)
	giveBack := t.giveBack
	t.giveBack = func(left bool) {
		if !left && t.ended && t.err == nil {
			x.swap(old, t.v)
		}
		if x.sick {
			x.giveBack()
		} else {
			giveBack(left)
		}
	}
	_, err := t.send(ctx, p.carrier, at, opts)
	return err
}

// swap puts the new resource in place, under the lease.
func (x *exchange[R]) swap(old, fresh R) {
	p := x.pool
	if same(fresh, old) {
		return
	}
	if x.late = x.lease.Retired(); x.late {
		x.gone = p.reg.Detach(x.lease.ID, resource[R]{value: fresh})
	} else {
		x.lease.Resource.value, x.done = fresh, true
		x.gone = p.reg.Detach(x.lease.ID, resource[R]{value: old})
	}
	p.bin.discard(x.gone)
}

// giveBack ends the lease. What the call had to say was about the opening.
func (x *exchange[R]) giveBack() {
	if x.done {
		x.lease.Resource.site.verdict = verdict{}
	}
	switch {
	case x.sick:
		x.lease.Resource.site.verdict = verdict{}
		x.pool.ward.giveBack(x.lease, x.done)
	default:
		if x.done {
			x.pool.ward.forgive(x.lease.ID)
		}
		x.pool.giveBack(x.lease)
	}
}
