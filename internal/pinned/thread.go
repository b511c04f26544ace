package pinned

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// Task is what a thread runs. Run must not panic: nobody is there to recover, and the
// process ends. It may lock its goroutine to the thread, and must unlock it as often.
type Task interface{ Run(*Thread) }

// Func is a function as a [Task].
type Func func(*Thread)

// Run calls f.
func (f Func) Run(t *Thread) { f(t) }

// Thread is one thread, as its tasks see it. The methods are for the running task only,
// on its own goroutine.
type Thread struct {
	index int
	id    int // of the system; 0 where that is not known

	signal.Parker              // sleeps when idle or kept; one token for each time it is roused
	state         state        // guarded by Threads.mu
	first         chan<- error // New waits for the first look or the failure; nil for replacements

	seq atomic.Uint64 // odd while a task runs; counts up at each begin and end

	// Owned by the goroutine of the thread.
	up       bool // Start has succeeded
	tainted  bool
	inTask   bool // a task has begun and not returned
	job      *Job // what it runs
	over     *Job // what it has run; its caller is told when the thread has looked further
	restores []func() error

	restoring bool // the functions run
}

// state is what a thread does.
type state uint8

const (
	starting state = iota // Start runs, or is about to; left for idle, running or leaving
	idle                  // sleeps, or was roused and has not come yet
	running               // runs tasks
	leaving               // Stop runs; left for kept, or ends
	kept                  // tainted, and sleeps until Close
	ended                 // its goroutine has nothing more to do; final
	states
)

// Index is the number of the thread, from 0. A replacement has the same one.
func (t *Thread) Index() int { return t.index }

// Seq names the task that runs, among all of this thread.
func (t *Thread) Seq() uint64 { return t.seq.Load() }

// ID is the system's number of the thread; 0 where that is not known (all but Linux).
func (t *Thread) ID() int { return t.id }

// Taint says that the task has changed the state of the thread and will not put it back:
// the thread is ended after the task, and replaced.
func (t *Thread) Taint() { t.tainted = true }

// Tainted reports whether the thread will be replaced.
func (t *Thread) Tainted() bool { return t.tainted }

// Restore registers a function that puts back what the task has changed. It runs on the
// thread when the task has returned, the last one first. If it fails the thread is
// tainted, and the caller gets an *ioerr.RestoreError. After runtime.Goexit it does not run:
// that thread ends anyway. Like the task it must not panic.
func (t *Thread) Restore(f func() error) { t.restores = append(t.restores, f) }

// restore runs the restore functions of the task that has returned.
func (t *Thread) restore() {
	t.restoring = true
	for n := len(t.restores) - 1; n >= 0; n = len(t.restores) - 1 {
		f := t.restores[n]
		t.restores[n] = nil
		t.restores = t.restores[:n]
		if err := f(); err != nil {
			t.tainted = true
			t.job.fail(&ioerr.RestoreError{Task: t.job.at - 1, Err: err})
		}
	}
	t.restoring = false
}

// announce tells New that the thread is ready, or why not.
func (t *Thread) announce(err error) {
	if t.first != nil {
		t.first <- err
		t.first = nil
	}
}

// guard calls a hook and stores how it ended. If the hook ends the goroutine, guard does
// not return, but has stored that.
func guard(hook func() error, err *error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			*err = &ioerr.PanicError{Value: v, Stack: debug.Stack()}
		} else {
			*err = ioerr.ErrGoexit
		}
	}()
	*err = hook()
	returned = true
}
