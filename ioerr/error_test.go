package ioerr_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// The text of a call that failed is the call's own, whatever else is known.
func TestTextOfAFailedCallIsUnchanged(t *testing.T) {
	for _, effect := range effects {
		for _, in := range inners {
			err := &ioerr.Error{
				Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: effect,
				Label: "statfs /mnt/a", Handle: handle.Make(0xab, 1, 2), Lane: "mnt",
				Err: in.err,
			}
			if got, want := err.Error(), in.err.Error(); got != want {
				t.Errorf("%s: text = %q, want %q", in.name, got, want)
			}
		}
	}
}

// Every other text names the layer, what it was about, and what happened.
func TestTextNamesLayerSubjectAndEvent(t *testing.T) {
	id := handle.Make(0x1f3a, 17, 3)
	for _, test := range []struct {
		want string
		err  ioerr.Error
	}{
		// Each layer, with all that can be known, and with nothing.
		{"lane mnt h1f3a.17.3 (statfs /mnt/a): queue is full", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Lane, Lane: "mnt", Handle: id, Label: "statfs /mnt/a", Err: ioerr.ErrQueueFull,
		}},
		{"lane: queue is full", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Lane, Err: ioerr.ErrQueueFull,
		}},
		{"handle h1f3a.17.3 (statfs /mnt/a): handle is in use", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Handle, Lane: "mnt", Handle: id, Label: "statfs /mnt/a", Err: ioerr.ErrHandleBusy,
		}},
		{"handle: no such handle", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Handle, Err: ioerr.ErrHandleNotFound,
		}},
		{"pool h1f3a.17.3 (statfs /mnt/a): shutting down", ioerr.Error{
			Outcome: ioerr.ShutdownInProgress, Origin: ioerr.Executor, Lane: "mnt", Handle: id, Label: "statfs /mnt/a", Err: ioerr.ErrShutdown,
		}},
		{"pool: shutting down", ioerr.Error{
			Outcome: ioerr.ShutdownInProgress, Origin: ioerr.Executor, Err: ioerr.ErrShutdown,
		}},
		{"lender db (query): all resources are lent", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Handle, Lender: "db", Lane: "mnt", Label: "query", Err: ioerr.ErrExhausted,
		}},
		// Each subject alone.
		{"lane mnt: too many calls wait for the queue", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Lane, Lane: "mnt", Err: ioerr.ErrOverloaded,
		}},
		{"handle h1f3a.17.3: too many calls wait for the handle", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Handle, Handle: id, Err: ioerr.ErrWaitersFull,
		}},
		{"pool (fsync): p.Run: <nil>: needs a function", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Executor, Label: "fsync",
			Err: &ioerr.ArgumentError{Name: "p.Run", Value: nil, Reason: "needs a function"},
		}},
		{"handle h0: no such handle", ioerr.Error{
			Outcome: ioerr.Failed, Origin: ioerr.Handle, Handle: handle.ID{}, Err: ioerr.ErrHandleNotFound,
		}},
		// The end of a wait says how it ended, since a cause alone does not.
		{"lane mnt: cancelled: the user has gone home", ioerr.Error{
			Outcome: ioerr.Cancelled, Origin: ioerr.Lane, Lane: "mnt", Err: errUser,
		}},
		{"handle h1f3a.17.3: timed out: context deadline exceeded", ioerr.Error{
			Outcome: ioerr.TimedOut, Origin: ioerr.Handle, Handle: id, Err: context.DeadlineExceeded,
		}},
		{"lane mnt: timed out: not accepted in time", ioerr.Error{
			Outcome: ioerr.TimedOut, Origin: ioerr.Lane, Lane: "mnt", Err: ioerr.ErrAcceptTimeout,
		}},
	} {
		for _, effect := range effects { // the text does not depend on it
			test.err.Effect = effect
			if got := test.err.Error(); got != test.want {
				t.Errorf("text = %q, want %q", got, test.want)
			}
		}
	}
}

func TestUnwrapGivesWhatIsCarried(t *testing.T) {
	for c := range matrix() {
		if got := errors.Unwrap(c.build()); got != c.inner.err {
			t.Errorf("%v: Unwrap = %v", c, got)
		}
	}
}

// Every value of an enum has a text of its own; those without a name, zero and
// 255 among them, show their number.
func TestEveryEnumValueHasATextOfItsOwn(t *testing.T) {
	for _, enum := range []struct {
		kind   string
		names  []string // of the values from one on
		string func(uint8) string
	}{
		{"outcome", []string{"failed", "cancelled", "timed out", "shutdown in progress"}, func(v uint8) string { return ioerr.Outcome(v).String() }},
		{"origin", []string{"call", "handle", "pool", "lane"}, func(v uint8) string { return ioerr.Origin(v).String() }},
		{"effect", []string{"none", "done", "unknown"}, func(v uint8) string { return ioerr.Effect(v).String() }},
	} {
		for v := range 256 {
			want := fmt.Sprintf("%s(%d)", enum.kind, v)
			if v >= 1 && v <= len(enum.names) {
				want = enum.names[v-1]
			}
			if got := enum.string(uint8(v)); got != want {
				t.Errorf("%s %d: String() = %q, want %q", enum.kind, v, got, want)
			}
		}
	}
	// The names above are in the order of the constants.
	if got, want := fmt.Sprint(outcomes, origins, effects), "[failed cancelled timed out shutdown in progress] [call handle pool lane] [none done unknown]"; got != want {
		t.Errorf("the constants print as %s, want %s", got, want)
	}
}

// A refusal is built once; returning it, and asking what it was, costs nothing.
func TestRefusalsAllocateNothing(t *testing.T) {
	for name, sentinel := range sentinels {
		prebuilt := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Lane, Effect: ioerr.None, Lane: "mnt", Err: sentinel}
		closed := &ioerr.Error{Outcome: ioerr.ShutdownInProgress, Origin: ioerr.Executor, Effect: ioerr.None, Err: ioerr.ErrShutdown}
		refusals := []*ioerr.Error{prebuilt, closed}
		refuse := func(i int) error { return refusals[i] }

		var matched, closedMatched, foreign, found, timeout bool
		allocs := testing.AllocsPerRun(100, func() {
			err := refuse(0)
			matched = errors.Is(err, sentinel)
			foreign = errors.Is(err, fs.ErrNotExist)
			closedMatched = errors.Is(refuse(1), fs.ErrClosed)
			e, ok := errors.AsType[*ioerr.Error](err)
			found = ok && e.Effect == ioerr.None
			timeout = e.Timeout()
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations, want none", name, allocs)
		}
		if !matched || !closedMatched || foreign || !found || timeout {
			t.Errorf("%s: matched %t, closed %t, foreign %t, found %t, timeout %t", name, matched, closedMatched, foreign, found, timeout)
		}
	}
}

// Sentinels end up in the middle of longer texts and in logs that people grep.
func TestSentinelTextsAreDistinctPhrases(t *testing.T) {
	seen := map[string]string{}
	for name, err := range sentinels {
		text := err.Error()
		if other, ok := seen[text]; ok {
			t.Errorf("%s and %s have the same text %q", name, other, text)
		}
		seen[text] = name
		if text == "" || text != strings.TrimSpace(text) || strings.ToLower(text[:1]) != text[:1] ||
			strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
			t.Errorf("%s: %q is no phrase to stand in the middle of a text", name, text)
		}
	}
}
