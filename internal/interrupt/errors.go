package interrupt

import "errors"

var (
	// ErrInterrupted: the call was asked to end, and the system call had no effect
	// that the caller would have to know or undo: it was not started, or it
	// returned EINTR.
	ErrInterrupted = errors.New("system call interrupted")

	// ErrSignal: the number given to [Take] is not a signal that can be had.
	ErrSignal = errors.New("signal cannot be used to interrupt")
)
