package pool

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// parcel is a call that a carrier runs, and what it occupies: it outlives its caller if
// need be. The caller and the lane's goroutine take turns with it: the caller until
// Carry has admitted it, the goroutine until End, then the caller again, unless it has
// left: then the parcel is the goroutine's for good.
type parcel[T any] struct {
	stay
	fn      func(context.Context) (T, error)
	ctx     context.Context // what it gets
	undo    func(T) error   // of a result that nobody receives; or nil
	discard func(T)         // the same, of a resource that is to be disposed of; or nil

	stick    func(label string, age time.Duration) // makes the handle refuse callers; nil outside transactions
	giveBack func(left bool)                       // of the lease; nil outside transactions

	name     string
	now      bool        // ErrReentry is told as it is
	threaded bool        // the caller's context names a thread
	carried  atomic.Bool // it has come to run
	left     atomic.Bool
	cause    error // why it is left

	v    T
	ok   bool         // the call has succeeded
	err  *ioerr.Error // not counted yet; a call that was left is counted as that
	fate Fate         // of a result that nobody receives
	lost error        // why it could not be undone

	panicked, exited bool // the call did not return
}

// newParcel returns a parcel that nobody uses.
func newParcel[T any](c *core) *parcel[T] {
	if t, ok := c.parcels.Get().(*parcel[T]); ok { // else it is of another type, and dropped
		return t
	}
	return new(parcel[T])
}

// Run implements [lane.Task].
func (t *parcel[T]) Run(on lane.Thread) {
	t.carried.Store(true)
	if on.Exists() || t.threaded { // that of a call around this one is not where this one runs
		t.ctx = lane.WithThread(t.ctx, on)
	}
	if t.core.gated == nil && t.core.state.Load() != stateOpen { // such a lane could not refuse it
		t.err, t.ended = &t.core.refusals().shutdown, true
		return
	}
	t.begun = true
	t.list(t.name, runs)
	defer func() {
		if !t.ended {
			t.unwound(recover())
		}
	}()
	v, err := t.fn(t.ctx)
	t.ended, t.ok = true, err == nil
	if t.v = v; err != nil {
		t.err = t.core.failure(err, t.name, t.at.id)
		t.at.blame(err)
	}
	if t.left.Load() { // here rather than in End: the lane still counts the call
		t.undoResult()
	}
}

// unwound makes the error of a call that did not return; see [site.unwound].
func (t *parcel[T]) unwound(recovered any) {
	t.exited, t.panicked = recovered == nil, recovered != nil
	t.err = t.core.failure(unwoundBy(recovered), t.name, t.at.id)
	t.at.blameUnwound(t.err.Err)
}

// count counts the failure of a call that its caller has received.
func (t *parcel[T]) count() error {
	c := &t.core.counts
	if t.panicked {
		defer c.panicked.Add(1)
	}
	if t.exited {
		defer c.exited.Add(1)
	}
	return t.core.count(t.err)
}

// Left implements [lane.Task].
func (t *parcel[T]) Left(age time.Duration) {
	t.left.Store(true)
	t.core.events.post(Event{ // here, so that LateEnd comes after it
		Kind: CallLeft, Call: Call{Label: t.name, Handle: t.at.id, Age: age, Left: true}, Err: &ioerr.LeftError{Age: age, Cause: t.cause},
	})
	if t.listed != nil {
		t.core.calls.move(t.listed, t.at, runsAlone)
	}
	if t.stick != nil {
		t.stick(t.name, age)
	}
}

// Ending implements [lane.Task]. A context that has ended ends that of the call by
// itself, and so does a shutdown. One that panics keeps nobody from leaving the call.
func (t *parcel[T]) Ending(cause error) {
	if t.cause = cause; !errors.Is(cause, ioerr.ErrCallLimit) || t.mark == nil {
		return
	}
	defer func() { _ = recover() }()
	t.mark.join().cancel(ioerr.ErrCallLimit)
}

// End implements [lane.Task]. It runs on a goroutine of the lane's, where a panic of the
// caller's context would end the process.
func (t *parcel[T]) End(left bool, err error) {
	if err != nil {
		t.spoil(err)
	}
	defer func() {
		_ = recover()
		if t.giveBack != nil {
			t.giveBack(left)
		}
	}()
	defer t.leave()
	if left {
		t.undoResult()
		t.tellFate()
	}
}

// spoil adds what went wrong after the call to how it ended.
func (t *parcel[T]) spoil(err error) {
	if t.err != nil {
		err = errors.Join(t.err.Err, err)
	}
	t.err = t.core.failure(err, t.name, t.at.id)
}

// taken reports whether a caller who has not left receives a result and no error.
func (t *parcel[T]) taken() bool { return t.ok && t.err == nil }

// undoResult undoes a result that nobody receives, once.
func (t *parcel[T]) undoResult() {
	switch {
	case t.fate != NoResult || !t.ok:
		return
	case t.discard != nil:
		t.fate = Discarded
		t.discard(t.v)
		return
	case t.undo == nil:
		t.fate = Dropped
		return
	}
	t.fate = UndoFailed // also if it ends its goroutine
	callHook("undo", t.at.id, func() error { return t.undo(t.v) }, func(err error) {
		if t.lost = err; err != nil {
			t.core.hookFailed(err)
			return
		}
		t.fate = Undone
	})
}

// tellFate reports the late end of a call that was left.
func (t *parcel[T]) tellFate() {
	e := Event{Kind: LateEnd, Call: Call{Label: t.name, Handle: t.at.id}, Fate: t.fate, Err: t.lost}
	if t.err != nil {
		e.Err = t.err
	}
	t.core.events.post(e)
}
