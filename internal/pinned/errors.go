package pinned

import (
	"fmt"

	"github.com/iolane/iolane/ioerr"
)

// ExitError reports a task that ended its goroutine, and so its thread. It matches
// ioerr.ErrGoexit.
type ExitError struct {
	Task int // its place in the batch
}

// Error names the task.
func (e *ExitError) Error() string { return fmt.Sprintf("task %d: %v", e.Task, e.Unwrap()) }

// Unwrap returns ioerr.ErrGoexit.
func (e *ExitError) Unwrap() error { return ioerr.ErrGoexit }

// owner is where the user finds the fields that errors speak of: Threads and the lane
// have them by the same names, but for Workers.
const owner = "lane.PinnedConfig."

func invalid(field string, value any, reason string) error {
	return &ioerr.ArgumentError{Name: owner + field, Value: value, Reason: reason}
}

// denied reports a field that cannot be had: not on this platform, or not with the
// rights of this process.
func denied(field string, err error) error {
	return &ioerr.UnsupportedError{What: owner + field, Err: err}
}

// cannotStart makes the error of a thread that could not start.
func (s *Threads) cannotStart(thread int, err error) error {
	return &ioerr.StartError{Lane: s.config.Name, Thread: thread, Err: err}
}
