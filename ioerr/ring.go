package ioerr

// RingError reports that a lane has no io_uring, or cannot use it any more.
type RingError struct {
	Lane string // its name; may be empty
	Err  error  // what the system has said, and to what
}

// Error says what the system has said.
func (e *RingError) Error() string {
	if e.Lane == "" {
		return "no ring: " + e.Err.Error()
	}
	return "no ring for lane " + e.Lane + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *RingError) Unwrap() error { return e.Err }
