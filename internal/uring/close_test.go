package uring

import (
	"errors"
	"testing"
	"time"
)

func TestCloseCancelsWaitsAndTells(t *testing.T) {
	for _, oneByOne := range []bool{false, true} {
		f, r := ring(t, Config{Slots: 40})
		f.hold = func(sqe) bool { return true }
		f.without = map[Op]bool{OpAsyncCancel: oneByOne}
		nops(t, r, 30)
		if err := r.Submit(); err != nil {
			t.Fatal(err)
		}
		nops(t, r, 5)
		spare, _ := r.Take()
		dropped, cancelled := 0, 0
		if err := r.Close(time.Second, func(c Completion) {
			switch {
			case c.Dropped:
				dropped++
			case c.Res == -int32(errCANCELED):
				cancelled++
			}
		}); err != nil {
			t.Fatal(err)
		}
		if dropped != 5 || cancelled != 30 {
			t.Errorf("%d dropped and %d cancelled, want 5 and 30", dropped, cancelled)
		}
		if f.fds != 0 || f.maps != 0 {
			t.Error("something is left")
		}
		// A closed ring does nothing, and hangs nobody.
		if _, ok := r.Take(); ok || !errors.Is(r.Err(), ErrClosed) || !errors.Is(r.Submit(), ErrClosed) || r.Wake() || r.Ready() {
			t.Error("a closed ring")
		}
		r.Nop(spare)
		if n := r.Reap(nil); n != 1 {
			t.Error("an operation described after the end:", n)
		}
		if err := r.RegisterBuffers([][]byte{{1}}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := r.Close(0, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestACloseThatTakesTooLongLeavesEverything(t *testing.T) {
	f, r := ring(t, Config{})
	// Disks: what is in flight cannot be cancelled, and does not end.
	f.hold = func(sqe) bool { return true }
	buf := make([]byte, 100)
	s, _ := r.Take()
	r.Read(s, 5, buf, 0)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	stuck := f.flight
	f.flight = nil
	before := Alive()
	for range 2 {
		err := r.Close(time.Second, nil)
		left, ok := errors.AsType[*LeftError](err)
		if !ok || left.InFlight != 1 {
			t.Fatal(err)
		}
	}
	if f.fds != 2 || f.maps != 2 || Alive() != before || r.slots[s.Index()].memory == nil {
		t.Error("something was given back")
	}
	if !r.Wake() {
		t.Error("the eventfd is gone")
	}
	if _, ok := r.Take(); ok || !errors.Is(r.Submit(), ErrClosed) {
		t.Error("it goes on")
	}
	f.flight = stuck
	f.completeOne()
	n := 0
	if err := r.Close(time.Second, func(c Completion) { n++ }); err != nil || n != 1 {
		t.Error(err, n)
	}
	if f.fds != 0 || f.maps != 0 || Alive() != before-1 {
		t.Error("something is left")
	}
}

func TestARingThatCannotBeWaitedForIsLeft(t *testing.T) {
	f, r := ring(t, Config{})
	f.hold = func(sqe) bool { return true }
	nops(t, r, 1)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	f.nth(1, 1000, errINVAL)
	err := r.Close(-1, nil)
	if left, ok := errors.AsType[*LeftError](err); !ok || left.InFlight != 1 || !errors.Is(err, errINVAL) {
		t.Error(err)
	}
	if f.fds != 2 || f.maps != 2 {
		t.Error("something was given back")
	}
	f.fail = nil
	closed(t, r, f)
}

func TestClosingFromInsideReapEndsIt(t *testing.T) {
	f, r := ring(t, Config{})
	nops(t, r, 100)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	n := 0
	told := func(Completion) { n++ }
	r.Reap(func(c Completion) {
		n++
		if n == 10 {
			if err := r.Close(-1, told); err != nil {
				t.Error(err)
			}
		}
	})
	if n != 100 || f.fds != 0 {
		t.Errorf("%d told, want 100", n)
	}
}
