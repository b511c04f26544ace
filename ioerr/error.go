package ioerr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Error is what a pool returns when a call did not succeed. It is always
// returned as error and always as a pointer. It must not be written to: several
// callers may get the same one.
type Error struct {
	Outcome Outcome // how it ended
	Origin  Origin  // which layer ended it
	Effect  Effect  // whether it ran

	Label  string       // the call's label, if it had one; not in refusals, see the package
	Handle fmt.Stringer // the handle.ID in question; nil if there was none, and in refusals
	Lane   string       // the lane's name, if it has one
	Lender string       // the name of the lender, if one has refused, and it has one

	// Err is what the layer said: the call's own error when Origin is
	// Leaf, the context's cause when the context ended the call, else a
	// sentinel of this package or an *ArgumentError. Never nil.
	Err error
}

// Error returns the call's own text unchanged when the call itself failed, and
// else names the layer, what it was about, and what happened.
func (e *Error) Error() string {
	if e.Origin == Leaf {
		return e.Err.Error()
	}
	var b strings.Builder
	if e.Lender != "" {
		b.WriteString("lender ")
		b.WriteString(e.Lender)
	} else {
		b.WriteString(e.Origin.String())
	}
	if e.Lane != "" && e.Origin == Lane {
		b.WriteByte(' ')
		b.WriteString(e.Lane)
	}
	if e.Handle != nil {
		b.WriteByte(' ')
		b.WriteString(e.Handle.String())
	}
	if e.Label != "" {
		b.WriteString(" (")
		b.WriteString(e.Label)
		b.WriteByte(')')
	}
	b.WriteString(": ")
	if e.Outcome == Cancelled || e.Outcome == TimedOut {
		b.WriteString(e.Outcome.String())
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is matches what the outcome means, beside what Err matches by itself:
// context.Canceled for Cancelled, context.DeadlineExceeded for TimedOut,
// ErrShutdown and fs.ErrClosed for ShutdownInProgress.
func (e *Error) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.Outcome == Cancelled
	case context.DeadlineExceeded:
		return e.Outcome == TimedOut
	case ErrShutdown, fs.ErrClosed:
		return e.Outcome == ShutdownInProgress
	}
	return false
}

// Timeout reports whether a deadline ended the call: its own one, or, when the
// call itself failed, what the first error in its chain that has such a method
// says of itself (as a net.Error does).
func (e *Error) Timeout() bool {
	if e.Outcome != Failed || e.Origin != Leaf {
		return e.Outcome == TimedOut
	}
	t, ok := errors.AsType[timeouter](e.Err)
	return ok && t.Timeout()
}

// timeouter is the part of net.Error that says how the call ended.
type timeouter interface {
	error
	Timeout() bool
}
