package ioerr_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// What happened is asked with errors.Is, as if there were no pool. Who ended the
// call and whether it ran is asked with errors.AsType.
func ExampleError() {
	explain := func(err error) string {
		if errors.Is(err, fs.ErrNotExist) {
			return "there is no such file" // the call's own error, untouched
		}
		e, ok := errors.AsType[*ioerr.Error](err)
		if !ok {
			return "not from a pool"
		}
		switch e.Outcome {
		case ioerr.ShutdownInProgress:
			return "we are going down"
		case ioerr.Cancelled, ioerr.TimedOut:
			return fmt.Sprintf("gave up while waiting for the %v; ran: %v", e.Origin, e.Effect)
		case ioerr.Failed:
			if e.Effect == ioerr.None {
				return "refused, safe to try again: " + e.Error()
			}
			return "the call failed: " + e.Error()
		}
		panic("unreachable: the outcomes are closed")
	}

	id := handle.Make(0x1f3a, 17, 3)
	for _, err := range []error{ // as a pool returns them
		&ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done,
			Label: "open", Err: &fs.PathError{Op: "open", Path: "/mnt/a", Err: fs.ErrNotExist},
		},
		&ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done,
			Label: "open", Err: &fs.PathError{Op: "open", Path: "/mnt/a", Err: fs.ErrPermission},
		},
		&ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Lane, Effect: ioerr.None,
			Lane: "mnt", Label: "statfs /mnt/a", Err: ioerr.ErrQueueFull,
		},
		&ioerr.Error{
			Outcome: ioerr.TimedOut, Origin: ioerr.Handle, Effect: ioerr.None,
			Handle: id, Err: errors.New("took too long"),
		},
		&ioerr.Error{
			Outcome: ioerr.ShutdownInProgress, Origin: ioerr.Executor, Effect: ioerr.None,
			Err: ioerr.ErrShutdown,
		},
	} {
		fmt.Println(explain(err))
	}
	// Output:
	// there is no such file
	// the call failed: open /mnt/a: permission denied
	// refused, safe to try again: lane mnt (statfs /mnt/a): queue is full
	// gave up while waiting for the handle; ran: none
	// we are going down
}

// A call that panics takes nothing down with it: the caller gets the value, and
// the stack for the log. If the value was an error, errors.Is still finds it.
func ExamplePanicError() {
	call := func() (err error) { // a pool does this around each call
		defer func() {
			if v := recover(); v != nil {
				err = &ioerr.Error{
					Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done,
					Err: &ioerr.PanicError{Value: v, Stack: debug.Stack()},
				}
			}
		}()
		panic(fmt.Errorf("parse the superblock: %w", fs.ErrInvalid))
	}

	err := call()
	if p, ok := errors.AsType[*ioerr.PanicError](err); ok {
		fmt.Println(p)
		fmt.Println("has a stack:", len(p.Stack) > 0)
		fmt.Println("is fs.ErrInvalid:", errors.Is(err, fs.ErrInvalid))
	}
	// Output:
	// panic: parse the superblock: invalid argument
	// has a stack: true
	// is fs.ErrInvalid: true
}

// A configuration that cannot be used is refused with the field and the value,
// so that a program can point at the line of its own configuration file.
func ExampleArgumentError() {
	var err error = &ioerr.Error{ // as a constructor returns it
		Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None,
		Err: &ioerr.ArgumentError{Name: "lane.Config.Workers", Value: -1, Reason: "must not be negative"},
	}

	fmt.Println(err)
	if a, ok := errors.AsType[*ioerr.ArgumentError](err); ok {
		fmt.Printf("check %s, it is %v\n", a.Name, a.Value)
	}
	fmt.Println(errors.Is(err, ioerr.ErrInvalid))
	// Output:
	// pool: lane.Config.Workers: -1: must not be negative
	// check lane.Config.Workers, it is -1
	// true
}
