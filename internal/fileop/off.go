package fileop

import (
	"context"
	"errors"
)

// CalledOffError is what a call returns as its failure whose operation was called off, with what
// nobody knows any more after the call: why.
type CalledOffError struct {
	Ended, Cause error // of the context of the call; nil: the engine had a reason of its own
	N            int64 // of a transfer, what was moved before
}

// Error implements error.
func (*CalledOffError) Error() string { return ErrCancelled.Error() }

// Unwrap returns ErrCancelled.
func (*CalledOffError) Unwrap() error { return ErrCancelled }

// WasCalledOff reports whether the operation was.
func (op *Op) WasCalledOff() bool { return op.Err != nil && errors.Is(op.Err, ErrCancelled) }

// Failure is Err as that of the call with the context ctx in which the operation was done.
func (op *Op) Failure(ctx context.Context) error {
	if op.WasCalledOff() {
		return &CalledOffError{ctx.Err(), context.Cause(ctx), op.N}
	}
	return op.Err
}
