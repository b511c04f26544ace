package ioerr

import (
	"context"
	"errors"
)

// Refusals by the lifecycle.
var (
	// ErrShutdown: the pool or the lane has begun to shut down, or is closed.
	// An [Error] with [ShutdownInProgress] also matches fs.ErrClosed.
	ErrShutdown = errors.New("shutting down")
)

// Refusals by a lane.
var (
	// ErrQueueFull: the queue is full and the call would not wait for acceptance.
	ErrQueueFull = errors.New("queue is full")
	// ErrOverloaded: the queue is full, and so is the room of those that wait for it.
	ErrOverloaded = errors.New("too many calls wait for the queue")
	// ErrKeyBusy: as many calls with the same key run as may, and the call would not
	// wait for acceptance.
	ErrKeyBusy = errors.New("too many calls with this key")
	// ErrAcceptTimeout: the call was not accepted within the time it allowed.
	// An [Error] that carries it is [TimedOut].
	ErrAcceptTimeout = errors.New("not accepted in time")
	// ErrReentry: the call was made from inside another one that holds what it
	// would have to wait for, and so could have waited for itself.
	ErrReentry = errors.New("called from inside a call that it would wait for")
	// ErrSaturated: calls that were left running hold every slot of the lane, and its
	// budget of replacements is used up.
	ErrSaturated = errors.New("too many calls were left running")
	// ErrUnsupported: the lane or the platform cannot do what was asked. An
	// [UnsupportedError] matches it.
	ErrUnsupported = errors.New("not supported here")
	// ErrKept: as many threads with a changed state are kept asleep as the lane may keep,
	// so that there is no replacement. A [StartError] carries it.
	ErrKept = errors.New("too many tainted threads are kept")
)

// ErrConcurrencyUnavailable: the call would not run beside its caller, and so it does
// not run. A [ConcurrencyError] matches it.
var ErrConcurrencyUnavailable = errors.New("concurrency unavailable")

// ErrBatchFull: every slot of the batch holds a call that is under way, or a result that
// nobody has taken.
var ErrBatchFull = errors.New("the batch is full")

// Refusals by a lender (package lend).
var (
	// ErrExhausted: all resources are lent, and the call would not wait for one.
	ErrExhausted = errors.New("all resources are lent")
	// ErrBorrowersFull: as many callers wait for a resource as may.
	ErrBorrowersFull = errors.New("too many calls wait for a resource")
	// ErrReturned: the loan has been returned, so what was lent is no more the caller's.
	ErrReturned = errors.New("the loan is returned")
)

// ErrThreadLimit: the lane may need more threads than the process may have. A
// [ThreadLimitError] matches it.
var ErrThreadLimit = errors.New("too many threads")

// ErrLeft: the call did not end in time, and its caller has left it running. A
// [LeftError] matches it.
var ErrLeft = errors.New("left running")

// ErrCallLimit is the cause of the context, and of the [LeftError], of a call that has run
// for longer than its lane allows. It matches context.DeadlineExceeded.
var ErrCallLimit error = callLimitError{}

type callLimitError struct{}

// Error says what it is.
func (callLimitError) Error() string { return "the lane's limit for calls" }

// Timeout is true, as with other errors of deadlines.
func (callLimitError) Timeout() bool { return true }

// Is matches context.DeadlineExceeded.
func (callLimitError) Is(target error) bool { return target == context.DeadlineExceeded }

// Refusals by a handle.
var (
	// ErrHandleNotFound: the ID names no resource: it never did, or the resource
	// was destroyed.
	ErrHandleNotFound = errors.New("no such handle")
	// ErrHandleBusy: the resource is in use and the call would not wait for it.
	ErrHandleBusy = errors.New("handle is in use")
	// ErrWaitersFull: as many calls as allowed wait for the resource already.
	ErrWaitersFull = errors.New("too many calls wait for the handle")
	// ErrScopeMismatch: the ID belongs to another pool.
	ErrScopeMismatch = errors.New("handle belongs to another pool")
	// ErrPoisoned: an earlier call has said that it left the resource unfit for use. An
	// [UnfitError] carries it.
	ErrPoisoned = errors.New("handle is poisoned")
	// ErrHandleDown: the resource has failed too often, or was stuck, and is not used
	// until a probe finds it well. An [UnfitError] carries it.
	ErrHandleDown = errors.New("handle is down")
)

// ErrInvalid is what every [ArgumentError] matches; so does fs.ErrInvalid.
var ErrInvalid = errors.New("invalid argument")

// ErrGoexit stands for a function that ended its goroutine by runtime.Goexit
// (or testing's FailNow) instead of returning.
var ErrGoexit = errors.New("goroutine ended by runtime.Goexit")

// ErrHookTimeout: a hook did not return in the time allowed for it. It goes on
// running, without a slot of the lane.
var ErrHookTimeout = errors.New("hook did not return in time")
