package pool

import (
	"context"
	"errors"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// flight is a call that its starter does not wait for. The starter gets its slot, so that
// a goroutine exists only for what runs: calls that wait for a slot are as many as there
// are starters.
//
// The starter has the flight until it has begun, its goroutine from then on.
type flight[T any] struct {
	stay
	ctx    context.Context //nolint:containedctx // of the call
	cancel context.CancelCauseFunc
	fn     func(context.Context) (T, error)
	end    func(T, error) // hears how it ended, when the slot has been given back
	label  string
	launch func() // run, for a go statement that allocates nothing; nil until it is needed
}

// derive makes the context of the call.
func (f *flight[T]) derive(ctx context.Context) { f.ctx, f.cancel = context.WithCancelCause(ctx) }

// start gets the call going on a goroutine of its own, or says why it will not run. With
// now it takes a free slot; if there is none the error is ErrReentry. Otherwise it waits
// in line, whatever the bounds of that; a caller who holds a slot of the lane already does
// not wait, but runs the call itself, under that one.
//
// from is the starter's context, which says what it holds.
func (f *flight[T]) start(from context.Context, c *core, now bool, opts []Option) error {
	f.core = c
	if _, err := undoOf[T](opts); err != nil {
		return f.fails(c.count(invalid(err)))
	}
	nested := f.nested(from)
	lc := callOf(opts)
	lc.NoWait, lc.Beyond = now || nested, !now
	err := f.admit(&lc, opts, true)
	if errors.Is(err, ioerr.ErrReentry) && nested && !now {
		f.runHere(from, lc.Label)
		return nil
	}
	return f.fails(err)
}

// fails lets go of the context if there is an error.
func (f *flight[T]) fails(err error) error {
	if err != nil {
		f.callOff(context.Canceled)
	}
	return err
}

// runHere runs the call as a part of the one that the caller is in, whose context is from.
func (f *flight[T]) runHere(from context.Context, label string) {
	f.at = &f.core.here
	ctx, cancel := context.WithCancelCause(from)
	defer endContext(cancel, context.Canceled)
	defer context.AfterFunc(f.ctx, func() { endContext(cancel, context.Cause(f.ctx)) })()
	f.guard(label, func() (T, error) { return f.fn(ctx) })
}

// runNow runs the call on the caller's goroutine, when it has got a slot.
func (f *flight[T]) runNow(c *core, opts []Option) error {
	if err := f.check(f.ctx, c, ""); err != nil {
		return f.fails(err)
	}
	lc := callOf(opts)
	lc.Beyond = true
	return f.fails(f.admit(&lc, opts, false))
}

// admit gets the slot, and runs the call, on a goroutine of its own or here.
func (f *flight[T]) admit(lc *lane.Call, opts []Option, apart bool) (err error) {
	c := f.core
	if carrier := c.carrierOf(); carrier != nil {
		return f.carry(carrier, lc, opts, apart)
	}
	begun := false
	defer func() {
		if !begun { // also if the lane or the context panics
			f.leave()
		}
	}()
	f.at = &c.here
	if c.gate != nil {
		if e := c.goInside(&f.stay); e != nil {
			return c.count(e)
		}
	}
	if err := f.enterLane(f.ctx, lc); err != nil {
		return f.refused(err, lc)
	}
	f.label = lc.Label
	if begun = true; !apart {
		f.run()
		return nil
	}
	if f.launch == nil {
		f.launch = f.run
	}
	go f.launch()
	return nil
}

// refused is the error for what the lane said. ErrReentry is for start, which may go on.
func (f *flight[T]) refused(err error, lc *lane.Call) error {
	if lc.NoWait && errors.Is(err, ioerr.ErrReentry) {
		return err
	}
	return f.core.refuse(f.ctx, err, ioerr.Lane, lc.Label, f.at.id)
}

// run runs the call under its slot.
func (f *flight[T]) run() {
	f.guard(f.label, func() (T, error) { return f.fn(f.begin(f.ctx)) })
}

// guard tells how a call ended, also if it did not return.
func (f *flight[T]) guard(label string, call func() (T, error)) {
	var v T
	var err error
	defer func() {
		if !f.ended {
			err = f.at.unwound(recover(), label)
		}
		defer func() {
			_ = recover() // of a context of somebody's making, as in callOff
			f.over(&v, &err)
		}()
		f.leave()
	}()
	v, err = call()
	if f.ended = true; err != nil {
		err = f.at.failed(err, label)
	}
}

// over tells of the end.
func (f *flight[T]) over(v *T, err *error) {
	f.callOff(context.Canceled)
	f.end(*v, *err)
}

// callOff ends the context of the call, if it has one of its own.
func (f *flight[T]) callOff(cause error) {
	if f.cancel != nil {
		endContext(f.cancel, cause)
	}
}

// endContext ends a context. That asks the one which it was made from, and if that panics it
// must not end the process: the goroutine may be anybody's.
func endContext(cancel context.CancelCauseFunc, cause error) {
	defer func() { _ = recover() }()
	cancel(cause)
}

// guarded is what fn returns, or the error for its panic: on a goroutine of the pool's nobody
// else would catch that of a context. The call has not run.
func (c *core) guarded(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = c.count(&ioerr.Error{
				Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Lane: c.lane.Name(), Err: unwoundBy(r),
			})
		}
	}()
	return fn()
}

// carry is admit on a lane that runs calls itself. That wants somebody who waits for the
// call: a goroutine does, from when it is admitted.
func (f *flight[T]) carry(carrier lane.Carrier, lc *lane.Call, opts []Option, apart bool) error {
	t := newParcel[T](f.core)
	t.stay = stay{core: f.core}
	t.fn = f.fn
	started, err := t.dispatch(f.ctx, starterOf(carrier), &f.core.here, *lc, opts)
	switch {
	case err != nil:
		return err
	case apart:
		go f.await(t, started)
	default:
		f.await(t, started)
	}
	return nil
}

// await waits for the end of a call that the lane runs.
func (f *flight[T]) await(t *parcel[T], started lane.Started) {
	var v T
	var err error
	defer func() { f.over(&v, &err) }()
	v, err = t.receive(f.ctx, started.Wait())
}
