package ioerr

import (
	"fmt"
	"io/fs"
	"time"
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
	return fmt.Sprintf("%s: %+v: %s", e.Name, e.Value, e.Reason)
}

// Is matches ErrInvalid and fs.ErrInvalid.
func (e *ArgumentError) Is(target error) bool {
	return target == ErrInvalid || target == fs.ErrInvalid
}

// HookError reports a hook of the pool's user that failed: it returned an error,
// panicked (Err holds a *PanicError), ended its goroutine (ErrGoexit) or did not
// return in time (ErrHookTimeout).
type HookError struct {
	Hook   string       // "dispose", "check", "interrupt", "undo"; "stop" of a lane's threads
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

// LeftError is the error of a call that its caller has left: it runs on. It matches
// ErrLeft, and whatever Cause matches.
type LeftError struct {
	Age   time.Duration // since the call began to run, when its caller left it
	Cause error         // of the context that ended, or ErrCallLimit, or ErrShutdown; nil: not known
}

// Error gives the age and the cause.
func (e *LeftError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("left running after %v", e.Age)
	}
	return fmt.Sprintf("left running after %v: %v", e.Age, e.Cause)
}

// Is matches ErrLeft.
func (e *LeftError) Is(target error) bool { return target == ErrLeft }

// Unwrap returns Cause.
func (e *LeftError) Unwrap() error { return e.Cause }

// StuckError refuses a call because an earlier one, which was left running or has run
// for too long, holds what it needs.
type StuckError struct {
	Label string        // of that call; may be empty
	Age   time.Duration // since that began to run
	Err   error         // ErrHandleBusy or ErrKeyBusy
}

// Error names what is held, the call that holds it, and its age.
func (e *StuckError) Error() string {
	if e.Label == "" {
		return fmt.Sprintf("%v: held by a call that does not end, age %v", e.Err, e.Age)
	}
	return fmt.Sprintf("%v: held by a call that does not end (%s), age %v", e.Err, e.Label, e.Age)
}

// Unwrap returns Err.
func (e *StuckError) Unwrap() error { return e.Err }

// UnfitError refuses a call because the resource is not fit for use.
type UnfitError struct {
	Err   error         // ErrHandleDown or ErrPoisoned
	Age   time.Duration // since it was found out
	Cause error         // how: the error of a call or of a probe; never nil
}

// Error gives the state, how long it has lasted, and the cause.
func (e *UnfitError) Error() string { return fmt.Sprintf("%v (for %v): %v", e.Err, e.Age, e.Cause) }

// Unwrap returns Err and Cause.
func (e *UnfitError) Unwrap() []error { return []error{e.Err, e.Cause} }

// SlowError is the cause in an [UnfitError] of a resource that was too slow.
type SlowError struct{ Took, Limit time.Duration }

// Error gives both times.
func (e *SlowError) Error() string { return fmt.Sprintf("took %v, limit %v", e.Took, e.Limit) }

// UnsupportedError reports what was asked for and cannot be had here: from this lane, on
// this platform, or with the rights of this process. It matches ErrUnsupported and what
// Err matches: errors.ErrUnsupported, or fs.ErrPermission.
type UnsupportedError struct {
	What string // the field or function, as "lane.AbandoningConfig.Interrupt"
	Err  error  // what the system said; never nil
}

// Error names what was asked for and the reason.
func (e *UnsupportedError) Error() string { return e.What + ": " + e.Err.Error() }

// Is matches ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Unwrap returns Err.
func (e *UnsupportedError) Unwrap() error { return e.Err }

// ThreadLimitError refuses a lane, or its growth, because all lanes of the process
// together might need more threads than it may have; the runtime would die of them.
// Nothing was done. It matches ErrThreadLimit.
type ThreadLimitError struct {
	Lane    string // the lane's name, if it has one
	Threads int    // what the lane might need
	Others  int    // what all other lanes might need
	Limit   int    // the limit that leaves least for lanes
	Kept    int    // of Limit, for other processes where these count, and for what blocks outside of lanes
	By      string // what sets Limit: "debug.SetMaxThreads", "RLIMIT_NPROC", or a file
}

// Error names the lane and what does not add up.
func (e *ThreadLimitError) Error() string {
	name := "lane"
	if e.Lane != "" {
		name += " " + e.Lane
	}
	return fmt.Sprintf("%s: may need %d threads beside %d of other lanes, but %s is %d, of which %d are kept for the rest",
		name, e.Threads, e.Others, e.By, e.Limit, e.Kept)
}

// Is matches ErrThreadLimit.
func (e *ThreadLimitError) Is(target error) bool { return target == ErrThreadLimit }
