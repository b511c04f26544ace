package pool

import (
	"fmt"
	"runtime/debug"

	"github.com/iolane/iolane/ioerr"
)

// callHook calls a function of the user and then done, exactly once and in any
// case, with nil or a *ioerr.HookError for whatever went wrong: an error, a
// panic, or runtime.Goexit, after which the goroutine ends.
func callHook(name string, id fmt.Stringer, fn func() error, done func(error)) {
	err := ioerr.ErrGoexit
	defer func() {
		if r := recover(); r != nil {
			err = &ioerr.PanicError{Value: r, Stack: debug.Stack()}
		}
		if err != nil {
			err = &ioerr.HookError{Hook: name, Handle: id, Err: err}
		}
		done(err)
	}()
	err = fn()
}
