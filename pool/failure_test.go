package pool_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// strangeError is an error that cannot be compared.
type strangeError struct{ parts []string }

func (strangeError) Error() string { return "strange" }

// Law: a call that fails with the same error value as the last one costs no
// allocation, and its error is right all the same: label, handle, and value.
func TestFailuresAreToldAgainOnlyWhereTheyFit(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		a, b := adopt(t, p, 1), adopt(t, p, 2)
		first, second := errors.New("same text"), errors.New("same text")
		odd := strangeError{[]string{"x"}}
		for range 3 {
			for _, err := range []error{io.EOF, io.EOF, first, second, first, odd, odd, strangeError{}, &ioerr.PanicError{Value: 1}} {
				fail := func(context.Context) error { return err }
				check := func(got error, label, id string) {
					t.Helper()
					e := typed(t, got)
					if !sameError(e.Err, err) || e.Origin != ioerr.Leaf || e.Effect != ioerr.Done || e.Outcome != ioerr.Failed {
						t.Errorf("%#v, want the error of %v", e, err)
					}
					handle := ""
					if e.Handle != nil {
						handle = e.Handle.String()
					}
					if e.Label != label || handle != id {
						t.Errorf("label %q, handle %q, want %q, %q", e.Label, handle, label, id)
					}
				}
				check(p.Do(bg, fail), "", "")
				check(p.Do(bg, fail, pool.Label("l")), "l", "")
				check(p.With(bg, a, func(ctx context.Context, _ int) error { return fail(ctx) }), "", a.String())
				check(p.With(bg, b, func(ctx context.Context, _ int) error { return fail(ctx) }), "", b.String())
			}
		}
		if s := p.Stats(); s.Failed != 3*9*4 || s.Ran != s.Failed {
			t.Errorf("%d failed and %d ran, want %d", s.Failed, s.Ran, 3*9*4)
		}
		closes(t, p)
	})
}

// sameError compares errors that may be of a type that cannot be compared.
func sameError(a, b error) bool {
	if s, ok := a.(strangeError); ok {
		t, ok := b.(strangeError)
		return ok && len(s.parts) == len(t.parts)
	}
	return a == b
}

func TestFailuresDoNotAllocate(t *testing.T) {
	p := makePool(t, pool.Config[int]{})
	id := adopt(t, p, 1)
	allocates(t, "Run", 0, func() { _, _ = pool.Run(bg, p, func(context.Context) (int, error) { return 0, io.EOF }) })
	allocates(t, "With", 0, func() { _ = p.With(bg, id, func(context.Context, int) error { return io.EOF }) })
	closes(t, p)
}
