package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// typed is the border as every test sees it: an error that leaves a pool is an
// *ioerr.Error with all its enums set, whose text and chain hold together. It
// returns nil for nil.
func typed(t testing.TB, err error) *ioerr.Error {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := err.(*ioerr.Error)
	if !ok {
		t.Errorf("%T left the pool: %v", err, err)
		return &ioerr.Error{Err: err}
	}
	if e.Outcome < ioerr.Failed || e.Outcome > ioerr.ShutdownInProgress ||
		e.Origin < ioerr.Leaf || e.Origin > ioerr.Lane ||
		e.Effect < ioerr.None || e.Effect > ioerr.Unknown || e.Err == nil {
		t.Errorf("incomplete error: %#v", e)
		return e
	}
	if e.Error() == "" {
		t.Errorf("error without a text: %#v", e)
	}
	// A timeout is no cancellation, nor the reverse, unless the call itself says so.
	if e.Origin != ioerr.Leaf && e.Effect == ioerr.None {
		if errors.Is(err, context.DeadlineExceeded) && e.Outcome != ioerr.TimedOut ||
			errors.Is(err, context.Canceled) && e.Outcome != ioerr.Cancelled {
			t.Errorf("outcome %v, but it matches what a context says: %#v", e.Outcome, e)
		}
	}
	if (e.Outcome == ioerr.ShutdownInProgress) != errors.Is(err, ioerr.ErrShutdown) && e.Origin != ioerr.Leaf {
		t.Errorf("outcome %v, ErrShutdown %v: %#v", e.Outcome, errors.Is(err, ioerr.ErrShutdown), e)
	}
	return e
}

// want is what an error has to say. All fields count, the zero ones too.
type want struct {
	outcome ioerr.Outcome
	origin  ioerr.Origin
	effect  ioerr.Effect
	err     error // errors.Is
	id      handle.ID
	label   string
	lane    string
}

// check compares an error with what it has to say.
func (w want) check(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %v", w.err)
		return
	}
	e := typed(t, err)
	got := want{outcome: e.Outcome, origin: e.Origin, effect: e.Effect, err: w.err, label: e.Label, lane: e.Lane}
	if e.Handle != nil {
		got.id, _ = e.Handle.(handle.ID)
	}
	if !errors.Is(err, w.err) {
		got.err = e.Err
	}
	if got != w {
		t.Errorf("got  %s\nwant %s", got, w)
	}
}

func (w want) String() string {
	return fmt.Sprintf("%v by %v, effect %v, handle %v, label %q, lane %q: %v", w.outcome, w.origin, w.effect, w.id, w.label, w.lane, w.err)
}

// refusal is a ready-made refusal: it names nothing but the lane.
func refusal(origin ioerr.Origin, err error) want {
	w := want{outcome: ioerr.Failed, origin: origin, effect: ioerr.None, err: err}
	switch err {
	case ioerr.ErrShutdown:
		w.outcome = ioerr.ShutdownInProgress
	case ioerr.ErrAcceptTimeout, context.DeadlineExceeded:
		w.outcome = ioerr.TimedOut
	case context.Canceled:
		w.outcome = ioerr.Cancelled
	}
	return w
}

// leaf is the error of a call that ran and failed by itself.
func leaf(err error) want {
	return want{outcome: ioerr.Failed, origin: ioerr.Leaf, effect: ioerr.Done, err: err}
}

// is checks the sentinel and the type of an error, where nothing else matters.
func is(t testing.TB, err, target error) {
	t.Helper()
	_ = typed(t, err)
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

// succeeds checks that there is no error.
func succeeds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		_ = typed(t, err)
		t.Errorf("got error %v, want none", err)
	}
}
