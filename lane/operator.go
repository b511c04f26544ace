package lane

import (
	"context"

	"github.com/iolane/iolane/internal/fileop"
)

// Op is a file operation as data; package file makes them.
type Op = fileop.Op

// Operator is a lane that does operations given as data by other means than a thread
// for each: [Ring]. On any other lane an operation is a call like all others, which
// package pool takes care of.
type Operator interface {
	Lane

	// Operate admits the operation as Enter does a call, has it done, and waits for its
	// end. The error says, as in Enter, why it never began; it is nil when the operation
	// has come to its end, which op.N and op.Err tell. When ctx ends meanwhile the
	// operation is called off: if that comes in time op.Err is fileop.ErrCancelled and
	// nothing has happened, else op tells what has. Either way the operation and its
	// buffers are the caller's again on return, and not before.
	Operate(ctx context.Context, c Call, op *Op) error

	// OperateAll is Operate for many operations, which are done at the same time as far as
	// there are slots, in no order; they count as one call that takes up several slots. It
	// returns when all have ended. An error means that none has begun.
	OperateAll(ctx context.Context, c Call, ops []Op) error

	// Fiber admits fn as a call with one slot, runs it as a coroutine beside the engine of
	// the lane, and waits for its end. Operate, called by fn with the context that it was
	// given or one made from that, then costs no switch of goroutines, no slot and no key:
	// those of the fiber serve for it. Whatever else blocks fn holds the engine up for some
	// milliseconds, until another one takes over. fn must not call runtime.LockOSThread. The
	// error says why fn never ran; if fn panics Fiber panics, and if it ends its goroutine,
	// Fiber ends the caller's.
	Fiber(ctx context.Context, c Call, fn func(context.Context)) error
}
