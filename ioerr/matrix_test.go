package ioerr_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
)

// cell is one Error of the matrix.
type cell struct {
	outcome ioerr.Outcome
	origin  ioerr.Origin
	effect  ioerr.Effect
	inner   inner
}

func (c cell) String() string {
	return fmt.Sprintf("%v/%v/%v/%s", c.outcome, c.origin, c.effect, c.inner.name)
}

func (c cell) build() *ioerr.Error {
	return &ioerr.Error{Outcome: c.outcome, Origin: c.origin, Effect: c.effect, Err: c.inner.err}
}

// matrix yields every outcome x origin x effect x inner error.
func matrix() iter.Seq[cell] {
	return func(yield func(cell) bool) {
		for _, outcome := range outcomes {
			for _, origin := range origins {
				for _, effect := range effects {
					for _, in := range inners {
						if !yield(cell{outcome, origin, effect, in}) {
							return
						}
					}
				}
			}
		}
	}
}

// wrappings are the ways in which an error travels on: alone, wrapped by the
// caller, one of several.
var wrappings = []struct {
	name string
	wrap func(error) error
}{
	{"bare", func(err error) error { return err }},
	{"wrapped", func(err error) error { return fmt.Errorf("backup of /mnt/a: %w", err) }},
	{"joined", func(err error) error { return errors.Join(errors.New("something else"), err) }},
}

// An Error matches what its outcome means and what it carries matches by itself:
// all of that, whatever the origin and the effect, and nothing else.
func TestErrorMatchesItsOutcomeAndWhatItCarriesAndNothingElse(t *testing.T) {
	cells := 0
	for c := range matrix() {
		for _, w := range wrappings {
			err := w.wrap(c.build())
			for name, target := range targets {
				want := slices.Contains(outcomeMatches[c.outcome], name) || slices.Contains(c.inner.matches, name)
				if got := errors.Is(err, target); got != want {
					t.Errorf("%v, %s: errors.Is(%s) = %t, want %t", c, w.name, name, got, want)
				}
				cells++
			}
		}
	}
	if want := 4 * 4 * 3 * len(inners) * len(wrappings) * len(targets); cells != want {
		t.Errorf("the matrix had %d cells, want %d", cells, want)
	}
}

// The pool takes nothing away and adds nothing when a call itself fails: an error
// of the call matches exactly what it matches without a pool. This also checks
// the table of the matrix against the standard library.
func TestFailedCallMatchesExactlyWhatItsErrorMatchesAlone(t *testing.T) {
	for _, in := range inners {
		err := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done, Err: in.err}
		for name, target := range targets {
			alone, tabled := errors.Is(in.err, target), slices.Contains(in.matches, name)
			if got := errors.Is(err, target); got != alone || alone != tabled {
				t.Errorf("%s as %s: %t through the pool, %t alone, %t in the table", in.name, name, got, alone, tabled)
			}
		}
	}
}

// By its outcome a timeout is no cancellation and a cancellation no timeout.
func TestTimeoutIsNeverACancellationNorTheOtherWayRound(t *testing.T) {
	for c := range matrix() {
		if len(c.inner.matches) != 0 {
			continue // what it carries matches by itself
		}
		err := c.build()
		cancelled, timedOut := errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded)
		if cancelled && timedOut {
			t.Errorf("%v matches both context.Canceled and context.DeadlineExceeded", c)
		}
		if c.outcome == ioerr.Cancelled && err.Timeout() {
			t.Errorf("%v calls itself a timeout", c)
		}
	}
}

// Whoever asks for *Error gets the one that was returned, with all that it says,
// however it was wrapped, and also when the call's own error is one itself.
func TestAsTypeFindsTheOutermostErrorAsItWasReturned(t *testing.T) {
	for c := range matrix() {
		for _, w := range wrappings {
			want := c.build()
			got, ok := errors.AsType[*ioerr.Error](w.wrap(want))
			if !ok || got != want {
				t.Errorf("%v, %s: AsType = %p, %t, want %p", c, w.name, got, ok, want)
				continue
			}
			if got.Outcome != c.outcome || got.Origin != c.origin || got.Effect != c.effect || got.Err != c.inner.err {
				t.Errorf("%v, %s: AsType gave %+v", c, w.name, got)
			}
		}
	}
}

// The types that an Error carries are found as they were put in.
func TestAsTypeFindsWhatIsCarried(t *testing.T) {
	for c := range matrix() {
		for _, w := range wrappings {
			err := w.wrap(c.build())
			switch want := c.inner.err.(type) {
			case *fs.PathError:
				sameType(t, c, w.name, err, want)
			case *timeoutError:
				sameType(t, c, w.name, err, want)
			case *ioerr.ArgumentError:
				sameType(t, c, w.name, err, want)
			case *ioerr.PanicError:
				sameType(t, c, w.name, err, want)
			case *ioerr.LeftError:
				sameType(t, c, w.name, err, want)
			case *ioerr.StuckError:
				sameType(t, c, w.name, err, want)
			case *ioerr.UnsupportedError:
				sameType(t, c, w.name, err, want)
			case *ioerr.ConcurrencyError:
				sameType(t, c, w.name, err, want)
			case *ioerr.ThreadLimitError:
				sameType(t, c, w.name, err, want)
			case *ioerr.StartError:
				sameType(t, c, w.name, err, want)
			case *ioerr.StopError:
				sameType(t, c, w.name, err, want)
			case *ioerr.RestoreError:
				sameType(t, c, w.name, err, want)
			case *ioerr.HookError:
				sameType(t, c, w.name, err, want)
				if p, ok := want.Err.(*ioerr.PanicError); ok {
					sameType(t, c, w.name, err, p)
				}
			}
		}
	}
}

func sameType[E interface {
	error
	comparable
}](t *testing.T, c cell, wrapping string, err error, want E) {
	t.Helper()
	if got, ok := errors.AsType[E](err); !ok || got != want {
		t.Errorf("%v, %s: AsType[%T] = %v, %t, want the one carried", c, wrapping, want, got, ok)
	}
}

// Timeout answers for the outcome first, and for the call's own error only when
// the call itself failed.
func TestTimeoutIsTheOutcomeOrWhatTheFailedCallSays(t *testing.T) {
	for c := range matrix() {
		var want bool
		switch {
		case c.outcome == ioerr.TimedOut:
			want = true
		case c.outcome == ioerr.Failed && c.origin == ioerr.Leaf:
			want = c.inner.timeout
		}
		err := c.build()
		if got := err.Timeout(); got != want {
			t.Errorf("%v: Timeout() = %t, want %t", c, got, want)
		}
		// Most callers do not know this package and ask for the method alone.
		e, ok := errors.AsType[interface {
			error
			Timeout() bool
		}](fmt.Errorf("backup: %w", err))
		if !ok || e.Timeout() != want {
			t.Errorf("%v: Timeout by interface = %t, %t, want %t", c, ok && e.Timeout(), ok, want)
		}
	}
}

// A target that cannot be compared is a mismatch, not a panic.
func TestUncomparableTargetIsNoMatch(t *testing.T) {
	target := uncomparableError{"a", "b"}
	for c := range matrix() {
		if errors.Is(c.build(), target) {
			t.Errorf("%v matches %v", c, target)
		}
		if c.build().Is(target) {
			t.Errorf("%v is %v", c, target)
		}
	}
	carried := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done, Err: target}
	if errors.Is(carried, target) {
		t.Error("an error that cannot be compared was found equal")
	}
	if got, ok := errors.AsType[uncomparableError](carried); !ok || len(got) != 2 {
		t.Errorf("AsType of what is carried = %v, %t", got, ok)
	}
}

type uncomparableError []string

func (e uncomparableError) Error() string { return strings.Join(e, " ") }

// A sentinel that the matrix does not know is an untested one.
func TestEverySentinelIsInTheMatrix(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)

	var exported []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if !name.IsExported() {
						t.Errorf("%s: package state: %s", file, name)
					}
					exported = append(exported, name.Name)
				}
			}
		}
	}
	for _, name := range exported {
		if sentinels[name] == nil {
			t.Errorf("%s is not in the matrix", name)
		}
	}
	if len(exported) != len(sentinels) {
		t.Errorf("the package exports %d sentinels, the matrix has %d", len(exported), len(sentinels))
	}
}
