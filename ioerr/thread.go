package ioerr

import "fmt"

// StartError reports a thread of a lane that could not start. A call that it refuses has
// not run.
type StartError struct {
	Lane   string // its name; may be empty
	Thread int    // the thread's number in the lane, from 0

	// Err is the error of the lane's Start hook (a *PanicError or ErrGoexit if that did not
	// return), an *UnsupportedError for a property that the thread could not be given, or
	// ErrKept.
	Err error
}

// Error names the thread.
func (e *StartError) Error() string {
	return fmt.Sprintf("thread %s cannot start: %v", threadName(e.Lane, e.Thread), e.Err)
}

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// StopError reports a lane's Stop hook that did not return.
type StopError struct {
	Lane   string // its name; may be empty
	Thread int    // the thread's number in the lane, from 0
	Err    error  // a *PanicError or ErrGoexit
}

// Error names the thread.
func (e *StopError) Error() string {
	return fmt.Sprintf("stop of thread %s: %v", threadName(e.Lane, e.Thread), e.Err)
}

// Unwrap returns Err.
func (e *StopError) Unwrap() error { return e.Err }

// RestoreError reports that a call ran to its end, but what it had changed in its thread
// could not be put back. The thread has been replaced.
type RestoreError struct {
	Task int   // the place of the call in its batch, from 0
	Err  error // of the function given to Thread.Restore; a *PanicError if it panicked
}

// Error says what failed.
func (e *RestoreError) Error() string { return "restoring the thread: " + e.Err.Error() }

// Unwrap returns Err.
func (e *RestoreError) Unwrap() error { return e.Err }

func threadName(lane string, number int) string {
	if lane == "" {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%s-%d", lane, number)
}
