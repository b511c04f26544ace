package lane

import (
	"context"
	"runtime/debug"

	"github.com/iolane/iolane/internal/pinned"
	"github.com/iolane/iolane/ioerr"
)

// Thread is the operating system thread on which a call of a Pinned lane runs. Its
// methods are for that call only, on its own goroutine, until it returns; they panic if
// it has returned, and on the zero Thread, which is none.
type Thread struct {
	t   *pinned.Thread
	seq uint64 // of the task that was given it
}

type threadKey struct{}

// ThreadOf returns the thread of the call that was given the context. On lanes without
// threads of their own there is none.
func ThreadOf(ctx context.Context) (t Thread, ok bool) {
	t, _ = ctx.Value(threadKey{}).(Thread)
	return t, t.Exists()
}

// WithThread returns a context in which ThreadOf finds the thread. It is for those who
// give tasks to a [Carrier] without package pool.
func WithThread(ctx context.Context, t Thread) context.Context {
	return context.WithValue(ctx, threadKey{}, t)
}

// Exists reports whether there is a thread: the zero Thread is none.
func (t Thread) Exists() bool { return t.t != nil }

// mine is the thread, for the call that it was given to.
func (t Thread) mine(method string) *pinned.Thread {
	if t.t == nil {
		panic("lane: Thread." + method + ": the call runs on no thread of a lane.Pinned")
	}
	if t.t.Seq() != t.seq {
		panic("lane: Thread." + method + ": the call that was given the thread has ended")
	}
	return t.t
}

// Index is the number of the thread in its lane, from 0. A replacement has the same one.
func (t Thread) Index() int { return t.mine("Index").Index() }

// ID is the system's number of the thread; 0 where that is not known (all but Linux).
func (t Thread) ID() int { return t.mine("ID").ID() }

// Taint says that the call has changed the state of the thread and will not put it back:
// a namespace, credentials, the affinity, whatever a library keeps there. The thread is
// ended after the call, and replaced.
func (t Thread) Taint() { t.mine("Taint").Taint() }

// Tainted reports whether the thread will be replaced.
func (t Thread) Tainted() bool { return t.mine("Tainted").Tainted() }

// Restore registers a function that puts back what the call has changed. It runs on the
// thread after the call, the last one first. If it fails or panics, the thread is tainted,
// and the error joins that of the call. After runtime.Goexit it does not run: that
// thread ends anyway.
func (t Thread) Restore(f func() error) {
	t.mine("Restore").Restore(func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &ioerr.PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
		return f()
	})
}
