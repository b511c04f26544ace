package rawio_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// script returns a system call with these results, one for each time it is made, and
// asks c before the one with the number ask, from 1.
func script(c *interrupt.Call, ask int, results ...any) (op func() (int, error), made *int) {
	made = new(int)
	return func() (int, error) {
		*made++
		if *made == ask {
			c.Ask()
		}
		if err, bad := results[*made-1].(error); bad {
			return -1, err
		}
		return results[*made-1].(int), nil
	}, made
}

func TestEINTRIsTriedAgainUnlessTheCallWasAsked(t *testing.T) {
	eintr, eio := syscall.EINTR, syscall.EIO
	for _, tc := range []struct {
		name    string
		ask     int // 0: never; else before the system call with this number
		results []any
		want    int
		err     error
		made    int
	}{
		{"no EINTR", 0, []any{7}, 7, nil, 1},
		{"a neighbour's EINTR", 0, []any{eintr, eintr, eintr, 7}, 7, nil, 4},
		{"another error after one", 0, []any{eintr, eio}, -1, eio, 2},
		{"asked", 1, []any{eintr}, 0, interrupt.ErrInterrupted, 1},
		{"asked after a neighbour's", 3, []any{eintr, eintr, eintr}, 0, interrupt.ErrInterrupted, 3},
		{"asked, but done", 1, []any{7}, 7, nil, 1},
		{"asked, but failed", 1, []any{eio}, -1, eio, 1},
		{"asked, done later", 2, []any{eintr, 7}, 7, nil, 2},
	} {
		c := interrupt.NewCall(nil)
		op, made := script(c, tc.ask, tc.results...)
		n, err := rawio.Do(c, op)
		if n != tc.want || !errors.Is(err, tc.err) || *made != tc.made {
			t.Errorf("%s: %d, %v after %d; want %d, %v after %d", tc.name, n, err, *made, tc.want, tc.err, tc.made)
		}
		if !c.Ask() {
			t.Errorf("%s: still in the section", tc.name)
		}
	}
}

func TestACallThatWasAskedMakesNoSystemCall(t *testing.T) {
	c := interrupt.NewCall(nil)
	c.Ask()
	op, made := script(c, 0, 7)
	if n, err := rawio.Do(c, op); n != 0 || !errors.Is(err, interrupt.ErrInterrupted) || *made != 0 {
		t.Errorf("%d, %v after %d", n, err, *made)
	}
}

func TestWithoutACallEINTRIsTriedAgain(t *testing.T) {
	op, _ := script(nil, 0, syscall.EINTR, 7)
	if n, err := rawio.Do(nil, op); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestAPanicLeavesTheSection(t *testing.T) {
	c := interrupt.NewCall(nil)
	func() {
		defer func() { _ = recover() }()
		_, _ = rawio.Do(c, func() (int, error) { panic("op") })
	}()
	if !c.Ask() {
		t.Error("still in the section")
	}
}
