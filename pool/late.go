package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// What happens to calls that were left, and to their results.

// Undo says how to undo the result of a call that nobody receives, since its caller has left
// (Offload, OffloadOn, and what starts calls beside their caller, on a lane where that can
// be), or another call was first ([First], [Race]): to close the file, give back the lock,
// drop the connection. It is called at most once, on the goroutine of the call, if that has
// succeeded; what goes wrong is in the report of Shutdown. T must be the type of the call's
// result. Run and Transact ignore it.
func Undo[T any](undo func(T) error) Option { return Option{kind: optUndo, undo: undo} }

// undoOf finds the option Undo; the last one counts.
func undoOf[T any](opts []Option) (undo func(T) error, err error) {
	for i := range opts {
		if opts[i].kind != optUndo {
			continue
		}
		var ok bool
		if undo, ok = opts[i].undo.(func(T) error); !ok {
			return nil, &ioerr.ArgumentError{
				Name: "pool.Undo", Value: fmt.Sprintf("%T", opts[i].undo), Reason: fmt.Sprintf("is not for a result of type %T", *new(T)),
			}
		}
		if undo == nil {
			return nil, &ioerr.ArgumentError{Name: "pool.Undo", Value: nil, Reason: "must not be nil"}
		}
	}
	return undo, nil
}

// registerLate is Register on a lane that carries calls, of a reserved lease.
func (p *Pool[R]) registerLate(ctx context.Context, lease registry.Lease[resource[R]], open func(context.Context) (R, error), opts []Option) (handle.ID, error) {
	committed := false
	t := &parcel[R]{fn: open}
	t.core, t.unjudged = p.own(), true
	at := p.siteOf(lease)
	at.opening = true
	t.discard = func(r R) { p.bin.discard(p.reg.Detach(lease.ID, resource[R]{value: r})) }
	t.giveBack = func(left bool) {
		at.opening, at.verdict = false, verdict{}
		if left || !t.taken() {
			if !left {
				t.undoResult() // the lane could not put its thread back
			}
			p.reg.Abort(lease)
			return
		}
		lease.Resource.value = t.v
		committed = !lease.Commit()
	}
	_, err := t.send(ctx, p.carrier, at, callOf(opts), opts)
	switch {
	case err != nil:
		return handle.ID{}, err
	case !committed:
		p.bin.discard(lease.Entry)
		return handle.ID{}, p.undone(lease.ID, callOf(opts).Label)
	}
	return lease.ID, nil
}

// ownContext is the context of a call whose lane can end it, also if the caller's never
// ends. Unlike that of other calls it is joined as soon as it is asked for anything.
type ownContext struct{ *mark }

// Done implements context.Context.
func (c ownContext) Done() <-chan struct{} { return c.join().Done() }

// Err implements context.Context. To run for too long is to miss a deadline.
func (c ownContext) Err() error {
	j := c.join()
	err := j.Err()
	if err != nil && errors.Is(context.Cause(j), ioerr.ErrCallLimit) {
		return context.DeadlineExceeded
	}
	return err
}

// Value implements context.Context.
func (c ownContext) Value(key any) any {
	if key == (markKey{}) {
		return c.mark
	}
	if v := c.join().Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// leftBehind is the error of a call that its caller has left.
func (c *core) leftBehind(ctx context.Context, left *ioerr.LeftError, label string, id handle.ID) error {
	e := &ioerr.Error{
		Outcome: ioerr.TimedOut, Origin: ioerr.Lane, Effect: ioerr.Unknown,
		Label: label, Lane: c.lane.Name(), Err: left,
	}
	switch {
	case errors.Is(left.Cause, ioerr.ErrShutdown):
		e.Outcome = ioerr.ShutdownInProgress
	case !errors.Is(left.Cause, ioerr.ErrCallLimit):
		e.Outcome = outcomeOf(ctx)
	}
	if !id.IsZero() {
		e.Handle = id
	}
	return c.count(e)
}
