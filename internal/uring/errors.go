package uring

import (
	"errors"
	"fmt"
	"syscall"
)

// Error is what the kernel said to the ring as a whole, not to one operation.
type Error struct {
	Step string // what was asked of it: "io_uring_setup", "mmap sq", "register probe"
	Err  error  // a syscall.Errno where the kernel has refused
}

// Error names the step.
func (e *Error) Error() string { return "uring: " + e.Step + ": " + e.Err.Error() }

// Unwrap returns Err. So errors.Is(err, errors.ErrUnsupported) is true for ENOSYS and
// EOPNOTSUPP.
func (e *Error) Unwrap() error { return e.Err }

func failed(step string, e syscall.Errno) error { return &Error{Step: step, Err: e} }

var (
	// ErrClosed: Close has been called.
	ErrClosed = errors.New("uring: ring is closed")
	// ErrRetired: after an error the ring takes no more operations. The error that it is
	// returned with names that one, too.
	ErrRetired = errors.New("uring: ring is retired")
)

// RetiredError is what a retired ring returns.
type RetiredError struct {
	Cause error // an *Error
}

// Error names the cause.
func (e *RetiredError) Error() string { return ErrRetired.Error() + ": " + e.Cause.Error() }

// Unwrap returns ErrRetired and the cause.
func (e *RetiredError) Unwrap() []error { return []error{ErrRetired, e.Cause} }

// LeftError reports a Close that gave up: operations are in flight, and the ring with
// all memory that they may touch has been left as it is. Close may be called again.
type LeftError struct {
	InFlight int   // operations that have not completed
	Cause    error // what keeps the ring from being waited for; nil if that takes too long
}

// Error says how many there are.
func (e *LeftError) Error() string {
	text := fmt.Sprintf("uring: ring left with %d operations in flight", e.InFlight)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *LeftError) Unwrap() error { return e.Cause }
