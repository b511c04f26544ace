package pinned

import (
	"errors"
	"fmt"

	"github.com/iolane/iolane/ioerr"
)

// ErrKept: as many tainted threads are kept as Config.Keep allows, so there is no
// replacement. A [StartError] carries it.
var ErrKept = errors.New("too many tainted threads are kept")

// FieldError reports a field of [Config] that cannot be had: not on this platform (it
// matches errors.ErrUnsupported and ioerr.ErrUnsupported), or not with the rights of
// this process (it matches what the system said).
type FieldError struct {
	Field string // "Nice"
	Err   error
}

// Error names the field.
func (e *FieldError) Error() string { return "pinned.Config." + e.Field + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// Is matches ioerr.ErrUnsupported if Err matches errors.ErrUnsupported.
func (e *FieldError) Is(target error) bool {
	return target == ioerr.ErrUnsupported && errors.Is(e.Err, errors.ErrUnsupported)
}

// StartError reports a thread that could not start: Config.Start failed (an
// *ioerr.PanicError or ioerr.ErrGoexit if it did not return), a [FieldError], or
// ErrKept.
type StartError struct {
	Name   string // Config.Name
	Thread int
	Err    error
}

// Error names the thread.
func (e *StartError) Error() string {
	return fmt.Sprintf("pinned: thread %s-%d cannot start: %v", e.Name, e.Thread, e.Err)
}

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// StopError reports a Config.Stop that did not return: Err is an *ioerr.PanicError or
// ioerr.ErrGoexit.
type StopError struct {
	Name   string // Config.Name
	Thread int
	Err    error
}

// Error names the thread.
func (e *StopError) Error() string {
	return fmt.Sprintf("pinned: stop of thread %s-%d: %v", e.Name, e.Thread, e.Err)
}

// Unwrap returns Err.
func (e *StopError) Unwrap() error { return e.Err }

// ExitError reports a task that ended its goroutine, and so its thread. It matches
// ioerr.ErrGoexit.
type ExitError struct {
	Task int // its place in the batch
}

// Error names the task.
func (e *ExitError) Error() string { return fmt.Sprintf("pinned: task %d: %v", e.Task, e.Unwrap()) }

// Unwrap returns ioerr.ErrGoexit.
func (e *ExitError) Unwrap() error { return ioerr.ErrGoexit }

// RestoreError reports a restore function that failed; see [Thread.Restore]. The task
// itself has run.
type RestoreError struct {
	Task int // its place in the batch
	Err  error
}

// Error names the task.
func (e *RestoreError) Error() string {
	return fmt.Sprintf("pinned: task %d: restoring the thread: %v", e.Task, e.Err)
}

// Unwrap returns Err.
func (e *RestoreError) Unwrap() error { return e.Err }
