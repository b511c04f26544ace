package lane

import (
	"context"
	"time"
)

// Carrier is a lane that can run a call on a goroutine or a thread of its own. Only such
// a call can outlive its caller. What enters by Enter and leaves by Leave runs on its
// caller's goroutine here too, and is waited for; a lane whose threads are the point
// refuses Enter with an *ioerr.UnsupportedError.
type Carrier interface {
	Lane

	// Carry admits the call as Enter does, runs the task, and waits until it has
	// ended, or until its caller may leave it by the rules of the lane. The error is
	// nil when the task has ended, an *ioerr.LeftError if it goes on without its
	// caller, and otherwise says as in Enter why it never ran; an *ioerr.StuckError
	// is for a call whose handle or key is held by one that was left.
	Carry(ctx context.Context, c Call, t Task) error

	// GiveUp tells the callers of calls with the given Call.Owner, those that run and
	// those that begin later, to leave them, by the rules of the lane, as if their
	// contexts had ended with that cause. It does not wait. Gated.Forget undoes it. On a
	// lane where nobody leaves it does nothing.
	GiveUp(owner uint64, cause error)
}

// Starter is a Carrier that tells its callers when it has admitted a call, so that whoever
// makes many need not wait for one before the next. The lanes of this package that carry are
// Starters. A lane that is made of one and has a Carry of its own needs a Start of its own.
type Starter interface {
	Carrier

	// Start is Carry up to the moment when the call has its slot: it does not wait for
	// the task. The errors are those of Carry for a call that never runs. A call that was
	// started does run, whatever its context, but on a lane that turns out to have a slot
	// for it and no thread. Calls begin in the order in which they were started, as far as
	// one can be told from the other.
	Start(ctx context.Context, c Call, t Task) (Started, error)
}

// Started is a call that was admitted. Wait is the rest of Carry, with the same errors, and
// must be called, once.
type Started interface {
	Wait() error
}

// Task is a call as a Carrier sees it. The methods are called by the lane only, each at
// most once; Ending perhaps while Run runs or when End was called, Left perhaps while Run
// runs. Only Run may end its goroutine, and none panics.
type Task interface {
	// Run runs the call to its end, on a thread of the lane's own if it has such. It
	// does not panic; it may end its goroutine.
	Run(on Thread)

	// Ending tells the task that its caller is about to leave it: its context has ended
	// with that cause, or it is ioerr.ErrCallLimit, or that of GiveUp.
	Ending(cause error)

	// Left tells the task that its caller leaves it, so many nanoseconds after it
	// began. It is called before End, perhaps while Run runs, under a lock of the
	// lane, so it must do little and never wait.
	Left(age time.Duration)

	// End ends the task after Run, when its slot has been given back; only then does
	// a caller that has not left return. err is what went wrong on the thread after
	// Run (see Thread.Restore), or nil.
	End(left bool, err error)
}

// LeftCall is a call that was left running.
type LeftCall struct {
	Label  string
	Key    string
	Handle uint64        // Call.Handle
	Age    time.Duration // since it began to run

	KeepsSlot bool // of the lane, since the budget of replacements was used up
}
