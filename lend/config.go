package lend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Config describes a [Lender].
type Config[R any] struct {
	// Name is in the errors of the lender (ioerr.Error.Lender). With [ByKey] the key follows it.
	Name string

	// Open opens a resource, as a call on the pool's lane. Its context has the values of the
	// one of the caller who needs it, but does not end with it, since another may have what
	// was opened: it ends after OpenWithin, or when the pool gives up.
	Open func(ctx context.Context) (R, error)

	// OpenWithin bounds Open, and its wait for the lane. Zero means no bound. An opening that
	// is left running then (lane.Abandoning) counts against Capacity until it ends.
	OpenWithin time.Duration

	// Check looks whether a resource is still fit for use before it is lent, if it has been
	// idle for CheckAfter or longer, as a part of the call that uses it. One for which it
	// returns an error is closed, and another one opened. May be nil.
	Check func(ctx context.Context, r R) error

	// CheckAfter is how long a resource is trusted without a look, since it was used last; after
	// a call that failed it is not. Zero means not at all.
	CheckAfter time.Duration

	// CheckWithin bounds Check: its context ends then. Zero means no bound but that of the
	// call, which AcceptWithin is not.
	CheckWithin time.Duration

	// Broken tells from the error of a call, as that has returned it, that its resource is not
	// to be lent again. It runs on the goroutine of the caller. Without it an error says
	// nothing about the resource, unless it is one of [pool.Poison]; so a resource that
	// breaks by itself, as a connection does, needs this, or Poison, or Check. May be nil.
	Broken func(err error) bool

	// Capacity is how many resources there may be, 1 to 65535.
	Capacity int

	// MinIdle is how many resources are kept idle, if Capacity allows: they are opened ahead
	// of need. After an attempt that fails the next one is made later and later, up to a
	// minute. Zero means none.
	MinIdle int

	// IdleTime is how long a resource beyond MinIdle is kept that nobody uses. Zero means
	// for ever.
	IdleTime time.Duration

	// Lifetime is how long a resource is used, less up to a tenth, by chance: so not all of
	// those that were opened together are closed together. Zero means for ever.
	Lifetime time.Duration

	// Waiters is how many callers may wait at a time. Zero means 1024; NoWaiters means none.
	Waiters int

	// Policy is what callers do while all resources are lent. Zero means lane.Wait; with
	// lane.FailFast they are told ErrExhausted.
	Policy lane.Policy

	// Patience is how long a caller waits before nobody may overtake him any more. Zero
	// means 200 us; lane.Strict, or any negative value, means that nobody is ever overtaken.
	Patience time.Duration
}

const (
	// NoWaiters is for Config.Waiters: nobody waits.
	NoWaiters = -1

	maxCapacity     = 1<<16 - 1
	defaultWaiters  = 1024
	maxWaiters      = 1 << 26
	defaultPatience = 200 * time.Microsecond
)

// complete checks c and fills in defaults.
func (c Config[R]) complete() (Config[R], error) {
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"OpenWithin", c.OpenWithin}, {"CheckAfter", c.CheckAfter}, {"CheckWithin", c.CheckWithin}, {"IdleTime", c.IdleTime}, {"Lifetime", c.Lifetime}} {
		if d.v < 0 {
			return c, bad("lend.Config."+d.name, d.v, "must not be negative")
		}
	}
	switch {
	case c.Open == nil:
		return c, bad("lend.Config.Open", nil, "must not be nil")
	case c.Capacity < 1 || c.Capacity > maxCapacity:
		return c, bad("lend.Config.Capacity", c.Capacity, "must be 1 to 65535")
	case c.MinIdle < 0 || c.MinIdle > c.Capacity:
		return c, bad("lend.Config.MinIdle", c.MinIdle, "must be 0 to Capacity")
	case c.Waiters < NoWaiters || c.Waiters > maxWaiters:
		return c, bad("lend.Config.Waiters", c.Waiters, "must be 1 to 2^26, 0 for the default, or NoWaiters")
	case c.Policy > lane.FailFast:
		return c, bad("lend.Config.Policy", c.Policy, "must be lane.Wait, lane.FailFast, or 0 for the default")
	}
	switch c.Waiters {
	case 0:
		c.Waiters = defaultWaiters
	case NoWaiters:
		c.Waiters = 0
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	return c, nil
}

// bad is the error for an argument.
func bad(name string, value any, reason string) *ioerr.Error {
	return &ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None,
		Err: &ioerr.ArgumentError{Name: name, Value: value, Reason: reason},
	}
}

// OpenError says that a call did not run since no resource could be opened for it. Err is
// what the pool says of that, an *ioerr.Error with what Open returned.
type OpenError struct {
	Err    error
	Within time.Duration // Config.OpenWithin, if that had passed; else zero
}

// Error tells what went wrong.
func (e *OpenError) Error() string {
	if e.Within > 0 {
		return fmt.Sprintf("opening a resource within %v: %v", e.Within, e.Err)
	}
	return "opening a resource: " + e.Err.Error()
}

// Unwrap returns Err.
func (e *OpenError) Unwrap() error { return e.Err }

// PendingError says what a [Lender.Shutdown] was waiting for when its context ended. Err is
// the cause of that.
type PendingError struct {
	Lent, Opening, Closing int // resources
	Err                    error
}

// Error tells what is left.
func (e *PendingError) Error() string {
	return fmt.Sprintf("resources: %d lent, %d being opened, %d being closed: %v", e.Lent, e.Opening, e.Closing, e.Err)
}

// Unwrap returns Err.
func (e *PendingError) Unwrap() error { return e.Err }

// errBroken is why a resource is not fit that another call has broken.
var errBroken = errors.New("broken by a call that outlasted its loan")

// checkError is a resource that did not pass Check.
type checkError struct{ err error }

func (e *checkError) Error() string { return "not fit for use: " + e.err.Error() }

func (e *checkError) Unwrap() error { return e.err }
