package ioerr

// ConcurrencyError is the error of a call that was to run at once, beside its caller, and
// could not. It never ran. It matches ErrConcurrencyUnavailable.
type ConcurrencyError struct {
	Temporary bool // no slot was free; else the lane runs no call beside its caller
}

// Error says whether it may be different another time.
func (e *ConcurrencyError) Error() string {
	if e.Temporary {
		return "concurrency unavailable: no free slot"
	}
	return "concurrency unavailable: the lane runs calls in their caller"
}

// Is matches ErrConcurrencyUnavailable.
func (e *ConcurrencyError) Is(target error) bool { return target == ErrConcurrencyUnavailable }
