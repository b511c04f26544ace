package ioerr

import (
	"fmt"
	"io/fs"
)

// PanicError is the error of a call or hook that panicked.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // the stack of the panicking goroutine, as from debug.Stack
}

// Error returns the panic value as text, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ArgumentError reports an argument or a configuration field that cannot be
// used. Nothing was done. It matches ErrInvalid and fs.ErrInvalid.
type ArgumentError struct {
	Name   string // the field or argument, as "lane.Config.Workers"
	Value  any    // what it was
	Reason string // what is wrong with it
}

// Error names the field, the value (a string in quotes) and the reason.
func (e *ArgumentError) Error() string {
	if text, ok := e.Value.(string); ok {
		return fmt.Sprintf("%s: %q: %s", e.Name, text, e.Reason)
	}
	return fmt.Sprintf("%s: %v: %s", e.Name, e.Value, e.Reason)
}

// Is matches ErrInvalid and fs.ErrInvalid.
func (e *ArgumentError) Is(target error) bool {
	return target == ErrInvalid || target == fs.ErrInvalid
}

// HookError reports a hook of the pool's user that failed: it returned an error,
// panicked (Err holds a *PanicError), ended its goroutine (ErrGoexit) or did not
// return in time (ErrHookTimeout).
type HookError struct {
	Hook   string       // "dispose"
	Handle fmt.Stringer // the handle.ID of the resource; nil if it never had one
	Err    error        // what went wrong; never nil
}

// Error names the hook, the handle and what went wrong.
func (e *HookError) Error() string {
	if e.Handle == nil {
		return e.Hook + ": " + e.Err.Error()
	}
	return e.Hook + " " + e.Handle.String() + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *HookError) Unwrap() error { return e.Err }
