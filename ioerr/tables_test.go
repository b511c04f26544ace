package ioerr_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/iolane/iolane/ioerr"
)

// The tables say by hand what matches what. They are the other side of the
// comparison, so nothing in them is computed by the package under test.

var (
	outcomes = []ioerr.Outcome{ioerr.Failed, ioerr.Cancelled, ioerr.TimedOut, ioerr.ShutdownInProgress}
	origins  = []ioerr.Origin{ioerr.Leaf, ioerr.Handle, ioerr.Executor, ioerr.Lane}
	effects  = []ioerr.Effect{ioerr.None, ioerr.Done, ioerr.Unknown}
)

// sentinels are all sentinels of the package, by the name they are exported
// under; TestEverySentinelIsInTheMatrix holds the list against the source.
var sentinels = map[string]error{
	"ErrShutdown":      ioerr.ErrShutdown,
	"ErrQueueFull":     ioerr.ErrQueueFull,
	"ErrKeyBusy":       ioerr.ErrKeyBusy,
	"ErrOverloaded":    ioerr.ErrOverloaded,
	"ErrAcceptTimeout": ioerr.ErrAcceptTimeout,
	"ErrReentry":       ioerr.ErrReentry,
	"ErrSaturated":     ioerr.ErrSaturated,
	"ErrUnsupported":   ioerr.ErrUnsupported,

	"ErrConcurrencyUnavailable": ioerr.ErrConcurrencyUnavailable,
	"ErrKept":                   ioerr.ErrKept,
	"ErrHandleNotFound":         ioerr.ErrHandleNotFound,
	"ErrHandleBusy":             ioerr.ErrHandleBusy,
	"ErrWaitersFull":            ioerr.ErrWaitersFull,
	"ErrScopeMismatch":          ioerr.ErrScopeMismatch,
	"ErrPoisoned":               ioerr.ErrPoisoned,
	"ErrHandleDown":             ioerr.ErrHandleDown,
	"ErrInvalid":                ioerr.ErrInvalid,
	"ErrGoexit":                 ioerr.ErrGoexit,
	"ErrHookTimeout":            ioerr.ErrHookTimeout,
	"ErrLeft":                   ioerr.ErrLeft,
	"ErrCallLimit":              ioerr.ErrCallLimit,
	"ErrThreadLimit":            ioerr.ErrThreadLimit,
	"ErrBatchFull":              ioerr.ErrBatchFull,
	"ErrExhausted":              ioerr.ErrExhausted,
	"ErrBorrowersFull":          ioerr.ErrBorrowersFull,
	"ErrReturned":               ioerr.ErrReturned,
}

// errUser is what the program handed to its context.CancelCauseFunc.
var errUser = errors.New("the user has gone home")

// targets are what is asked for with errors.Is: every sentinel, and these.
var targets = withSentinels(map[string]error{
	"context.Canceled":         context.Canceled,
	"context.DeadlineExceeded": context.DeadlineExceeded,
	"fs.ErrClosed":             fs.ErrClosed,
	"fs.ErrNotExist":           fs.ErrNotExist,
	"fs.ErrInvalid":            fs.ErrInvalid,
	"os.ErrDeadlineExceeded":   os.ErrDeadlineExceeded,
	"syscall.ENOENT":           syscall.ENOENT,
	"cause":                    errUser,
})

func withSentinels(m map[string]error) map[string]error {
	for name, err := range sentinels {
		m[name] = err
	}
	return m
}

// outcomeMatches: what an Error matches by its outcome alone.
var outcomeMatches = map[ioerr.Outcome][]string{
	ioerr.Failed:             {},
	ioerr.Cancelled:          {"context.Canceled"},
	ioerr.TimedOut:           {"context.DeadlineExceeded"},
	ioerr.ShutdownInProgress: {"ErrShutdown", "fs.ErrClosed"},
}

// timeoutError is an error that speaks for itself, as those of package net do.
type timeoutError struct{ timeout bool }

func (e *timeoutError) Error() string   { return "read tcp 192.0.2.1:80: i/o timeout" }
func (e *timeoutError) Timeout() bool   { return e.timeout }
func (e *timeoutError) Temporary() bool { return true }

// inner is one thing that an Error may carry.
type inner struct {
	name    string
	err     error
	matches []string // the targets that it matches by itself
	timeout bool     // whether it, or what it wraps, calls itself a timeout
}

// inners are the things carried: every sentinel as it is, and these.
var inners = append(sentinelInners(), []inner{
	{
		name:    "PathError of ENOENT",
		err:     &fs.PathError{Op: "open", Path: "/mnt/a", Err: syscall.ENOENT},
		matches: []string{"fs.ErrNotExist", "syscall.ENOENT"},
	},
	{
		name:    "PathError of a closed file",
		err:     &fs.PathError{Op: "read", Path: "/mnt/a", Err: fs.ErrClosed},
		matches: []string{"fs.ErrClosed"},
	},
	{
		name:    "PathError of a file's deadline",
		err:     &fs.PathError{Op: "read", Path: "/dev/tty", Err: os.ErrDeadlineExceeded},
		matches: []string{"os.ErrDeadlineExceeded"},
		timeout: true,
	},
	{name: "raw context.Canceled", err: context.Canceled, matches: []string{"context.Canceled"}},
	{name: "wrapped context.Canceled", err: fmt.Errorf("fetch: %w", context.Canceled), matches: []string{"context.Canceled"}},
	{name: "raw context.DeadlineExceeded", err: context.DeadlineExceeded, matches: []string{"context.DeadlineExceeded"}, timeout: true},
	{name: "raw fs.ErrClosed", err: fs.ErrClosed, matches: []string{"fs.ErrClosed"}},
	{name: "net-like timeout", err: &timeoutError{true}, timeout: true},
	{name: "net-like, no timeout", err: &timeoutError{false}},
	{name: "wrapped net-like timeout", err: fmt.Errorf("dial: %w", &timeoutError{true}), timeout: true},
	{name: "context cause", err: errUser, matches: []string{"cause"}},
	{
		name:    "use and dispose both failed",
		err:     errors.Join(&fs.PathError{Op: "stat", Path: "/mnt/a", Err: fs.ErrNotExist}, errUser),
		matches: []string{"fs.ErrNotExist", "cause"},
	},
	{
		name:    "ArgumentError",
		err:     &ioerr.ArgumentError{Name: "lane.Config.Workers", Value: -1, Reason: "must not be negative"},
		matches: []string{"ErrInvalid", "fs.ErrInvalid"},
	},
	{
		name:    "PanicError with an error",
		err:     &ioerr.PanicError{Value: fmt.Errorf("open: %w", fs.ErrNotExist), Stack: []byte("stack")},
		matches: []string{"fs.ErrNotExist"},
	},
	{name: "PanicError with a string", err: &ioerr.PanicError{Value: "index out of range", Stack: []byte("stack")}},
	{name: "PanicError with nil", err: &ioerr.PanicError{}},
	{name: "HookError with an error", err: &ioerr.HookError{Hook: "dispose", Err: errUser}, matches: []string{"cause"}},
	{
		name:    "HookError with a panic",
		err:     &ioerr.HookError{Hook: "check", Err: &ioerr.PanicError{Value: fs.ErrClosed}},
		matches: []string{"fs.ErrClosed"},
	},
	{name: "LeftError", err: &ioerr.LeftError{Age: 1}, matches: []string{"ErrLeft"}},
	{
		name:    "LeftError by a limit",
		err:     &ioerr.LeftError{Age: 1, Cause: ioerr.ErrCallLimit},
		matches: []string{"ErrLeft", "ErrCallLimit", "context.DeadlineExceeded"},
		timeout: true,
	},
	{name: "LeftError with a cause", err: &ioerr.LeftError{Age: 1, Cause: errUser}, matches: []string{"ErrLeft", "cause"}},
	{name: "UnsupportedError", err: &ioerr.UnsupportedError{What: "x", Err: errUser}, matches: []string{"ErrUnsupported", "cause"}},
	{name: "ConcurrencyError", err: &ioerr.ConcurrencyError{Temporary: true}, matches: []string{"ErrConcurrencyUnavailable"}},
	{name: "ThreadLimitError", err: &ioerr.ThreadLimitError{Threads: 9, Limit: 8, By: "RLIMIT_NPROC"}, matches: []string{"ErrThreadLimit"}},
	{name: "StartError", err: &ioerr.StartError{Lane: "gl", Thread: 3, Err: ioerr.ErrKept}, matches: []string{"ErrKept"}},
	{name: "StopError", err: &ioerr.StopError{Lane: "gl", Err: ioerr.ErrGoexit}, matches: []string{"ErrGoexit"}},
	{name: "RestoreError", err: &ioerr.RestoreError{Err: errUser}, matches: []string{"cause"}},
	{name: "StuckError", err: &ioerr.StuckError{Label: "statfs", Age: 1, Err: ioerr.ErrHandleBusy}, matches: []string{"ErrHandleBusy"}},
	{name: "UnfitError", err: &ioerr.UnfitError{Err: ioerr.ErrHandleDown, Age: 1, Cause: errUser}, matches: []string{"ErrHandleDown", "cause"}},
	{name: "HookError of a hook that hangs", err: &ioerr.HookError{Hook: "dispose", Err: ioerr.ErrHookTimeout}, matches: []string{"ErrHookTimeout"}},
	{
		name: "a nested call that timed out",
		err: &ioerr.Error{
			Outcome: ioerr.TimedOut, Origin: ioerr.Lane, Effect: ioerr.None, Err: ioerr.ErrAcceptTimeout,
		},
		matches: []string{"context.DeadlineExceeded", "ErrAcceptTimeout"},
		timeout: true,
	},
	{
		name: "a nested call that met a shutdown",
		err: &ioerr.Error{
			Outcome: ioerr.ShutdownInProgress, Origin: ioerr.Executor, Effect: ioerr.None, Err: ioerr.ErrShutdown,
		},
		matches: []string{"ErrShutdown", "fs.ErrClosed"},
	},
}...)

func sentinelInners() []inner {
	var list []inner
	for name, err := range sentinels {
		in := inner{name: name, err: err, matches: []string{name}}
		if name == "ErrCallLimit" {
			in.matches, in.timeout = append(in.matches, "context.DeadlineExceeded"), true
		}
		list = append(list, in)
	}
	return list
}
