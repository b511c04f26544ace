package pool

import (
	"context"
	"errors"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// The way of a parcel to a lane that carries, and back.

// send has the call run by the lane and waits for it as long as that allows. lc is what the
// options say; with NoWait ErrReentry is told as it is.
func (t *parcel[T]) send(ctx context.Context, carrier lane.Carrier, at *site, lc lane.Call, opts []Option) (v T, err error) {
	back := false
	defer func() {
		if !back { // also if the lane or the context panics
			t.drop()
		}
	}()
	if err := t.address(ctx, at, &lc, opts); err != nil {
		return v, err
	}
	err = carrier.Carry(ctx, lc, t)
	back = true
	return t.receive(ctx, err)
}

// dispatch is send up to the moment when the lane has admitted the call; receive, with what
// Wait says, is the rest.
func (t *parcel[T]) dispatch(ctx context.Context, starter lane.Starter, at *site, lc lane.Call, opts []Option) (lane.Started, error) {
	back := false
	defer func() {
		if !back {
			t.drop()
		}
	}()
	if err := t.address(ctx, at, &lc, opts); err != nil {
		return nil, err
	}
	started, err := starter.Start(ctx, lc, t)
	if back = true; err != nil {
		_, err = t.receive(ctx, err)
		return nil, err
	}
	t.now = false // from here on ErrReentry is an error like any other
	return started, nil
}

// address says where the call goes, and what the lane has to know.
func (t *parcel[T]) address(ctx context.Context, at *site, lc *lane.Call, opts []Option) (err error) {
	c := t.core
	t.at, t.ctx, t.name = at, ctx, lc.Label
	if !c.unguarded {
		t.mark = &mark{Context: ctx, site: at}
		t.ctx = ownContext{t.mark}
	}
	if !t.plain {
		_, t.threaded = lane.ThreadOf(ctx)
	}
	if t.undo, err = undoOf[T](opts); err != nil {
		return c.count(invalid(err))
	}
	if c.gate != nil && at == &c.here {
		if e := c.goInside(&t.stay); e != nil {
			return c.count(e)
		}
	}
	if t.until != nil {
		lc.Accept = *t.until
	}
	t.now = lc.NoWait
	lc.Owner, lc.Handle, lc.NoWait = c.owner, at.id.Uint64(), t.now || t.nested(ctx)
	t.list(t.name, waitsForLane)
	return nil
}

// receive says how the call ended, by what the lane says. If that has run it, and it was not
// left, the parcel is the caller's again, and is put away.
func (t *parcel[T]) receive(ctx context.Context, err error) (v T, _ error) {
	c := t.core
	if err == nil {
		v = t.v
		if t.err != nil {
			err = t.count()
		}
		*t = parcel[T]{}
		c.parcels.Put(t)
		return v, err
	}
	if why, ok := errors.AsType[*ioerr.LeftError](err); ok {
		return v, c.leftBehind(ctx, why, t.name, t.at.id)
	}
	defer t.drop()
	if t.now && errors.Is(err, ioerr.ErrReentry) {
		return v, err
	}
	return v, c.refuse(ctx, err, ioerr.Lane, t.name, t.at.id)
}

// drop gives back what a call holds that was refused. If it has come to run all the same, the
// lane has panicked, and the parcel is the goroutine's that runs it.
func (t *parcel[T]) drop() {
	if t.carried.Load() {
		return
	}
	t.leave()
	if t.giveBack != nil {
		t.giveBack(false)
	}
}
