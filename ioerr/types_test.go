package ioerr_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// A panic's text is one line that says what was thrown; the stack is asked for.
func TestPanicTextIsTheValueWithoutTheStack(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{"index out of range", "panic: index out of range"},
		{fs.ErrClosed, "panic: file already closed"},
		{42, "panic: 42"},
		{nil, "panic: <nil>"},
		{struct{ A, B int }{1, 2}, "panic: {1 2}"},
	} {
		err := &ioerr.PanicError{Value: test.value, Stack: []byte("goroutine 1 [running]:\nmain.main()")}
		if got := err.Error(); got != test.want {
			t.Errorf("text = %q, want %q", got, test.want)
		}
	}
}

// Even a panic value whose own methods panic gives a text: it is printed where
// nobody expects a second panic.
func TestPanicTextSurvivesAValueThatPanics(t *testing.T) {
	err := &ioerr.PanicError{Value: brokenError{}}
	if got, want := err.Error(), "panic: %!v(PANIC=Error method: broken)"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
}

type brokenError struct{}

func (brokenError) Error() string { panic("broken") }

// A panic with an error is still that error; a panic with anything else is none.
func TestPanicUnwrapsToItsValueOnlyIfThatIsAnError(t *testing.T) {
	if got := errors.Unwrap(&ioerr.PanicError{Value: fs.ErrClosed}); got != fs.ErrClosed {
		t.Errorf("Unwrap = %v, want %v", got, fs.ErrClosed)
	}
	for _, value := range []any{nil, "text", 42, []error{fs.ErrClosed}} {
		if got := errors.Unwrap(&ioerr.PanicError{Value: value}); got != nil {
			t.Errorf("Unwrap of a panic with %v = %v, want nil", value, got)
		}
	}
}

// Bad input names the field, the value and the reason.
func TestArgumentErrorNamesFieldValueAndReason(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{-1, "lane.Config.Workers: -1: must not be negative"},
		{nil, "lane.Config.Workers: <nil>: must not be negative"},
		{handle.ID{}, "lane.Config.Workers: h0: must not be negative"},
		{uint64(1<<64 - 1), "lane.Config.Workers: 18446744073709551615: must not be negative"},
	} {
		err := &ioerr.ArgumentError{Name: "lane.Config.Workers", Value: test.value, Reason: "must not be negative"}
		if got := err.Error(); got != test.want {
			t.Errorf("text = %q, want %q", got, test.want)
		}
		if !errors.Is(err, ioerr.ErrInvalid) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%v does not match ErrInvalid and fs.ErrInvalid", err)
		}
	}
}

// A failed hook is named, with the resource it was for if there was one.
func TestHookErrorNamesHookAndHandle(t *testing.T) {
	for _, test := range []struct {
		err  ioerr.HookError
		want string
	}{
		{ioerr.HookError{Hook: "dispose", Handle: handle.Make(0x1f3a, 17, 3), Err: errUser}, "dispose h1f3a.17.3: the user has gone home"},
		{ioerr.HookError{Hook: "dispose", Err: errUser}, "dispose: the user has gone home"},
		{ioerr.HookError{Hook: "check", Err: &ioerr.PanicError{Value: "index out of range"}}, "check: panic: index out of range"},
		{ioerr.HookError{Hook: "interrupt", Err: ioerr.ErrGoexit}, "interrupt: goroutine ended by runtime.Goexit"},
		{ioerr.HookError{Hook: "dispose", Err: ioerr.ErrHookTimeout}, "dispose: hook did not return in time"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("text = %q, want %q", got, test.want)
		}
		if got := errors.Unwrap(&test.err); got != test.err.Err {
			t.Errorf("Unwrap = %v, want %v", got, test.err.Err)
		}
	}
}

func TestThreadLimitErrorTellsWhatDoesNotAddUp(t *testing.T) {
	err := ioerr.ThreadLimitError{Lane: "disk", Threads: 1000, Others: 32, Limit: 64, Kept: 18, By: "RLIMIT_NPROC"}
	if got, want := err.Error(), "lane disk: may need 1000 threads beside 32 of other lanes, but RLIMIT_NPROC is 64, of which 18 are kept for the rest"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	err.Lane = ""
	if got, want := err.Error(), "lane: may need 1000 threads "; !strings.HasPrefix(got, want) {
		t.Errorf("text = %q, want %q at its beginning", got, want)
	}
}

func TestErrorsOfALaneTellTheCallOrTheThread(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&ioerr.LeftError{Age: 90 * time.Second}, "left running after 1m30s"},
		{&ioerr.LeftError{Age: time.Second, Cause: errUser}, "left running after 1s: the user has gone home"},
		{&ioerr.UnsupportedError{What: "lane.X", Err: errUser}, "lane.X: the user has gone home"},
		{&ioerr.StartError{Lane: "gl", Thread: 3, Err: errUser}, "thread gl-3 cannot start: the user has gone home"},
		{&ioerr.StartError{Err: ioerr.ErrKept}, "thread 0 cannot start: too many tainted threads are kept"},
		{&ioerr.StopError{Lane: "gl", Thread: 3, Err: ioerr.ErrGoexit}, "stop of thread gl-3: goroutine ended by runtime.Goexit"},
		{&ioerr.RestoreError{Task: 2, Err: errUser}, "restoring the thread: the user has gone home"},
		{&ioerr.StuckError{Age: time.Minute, Err: ioerr.ErrKeyBusy}, "too many calls with this key: held by a call that does not end, age 1m0s"},
		{&ioerr.StuckError{Label: "statfs", Age: time.Minute, Err: ioerr.ErrHandleBusy}, "handle is in use: held by a call that does not end (statfs), age 1m0s"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
