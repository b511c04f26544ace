package uring

import "testing"

func TestCancelTellsBothEnds(t *testing.T) {
	_, r := ring(t, Config{})
	f := r.kernel.(*fake)
	f.hold = func(sqe) bool { return true }
	for _, c := range []struct {
		what string
		late bool
		res  int32
		out  Cancel
	}{
		{"cancelled", false, -int32(errCANCELED), Cancelled},
		{"a late success", true, 0, CancelTooLate},
	} {
		s, _ := r.Take()
		r.Nop(s)
		if err := r.Submit(); err != nil {
			t.Fatal(err)
		}
		if a := r.Cancel(s); a != Described {
			t.Fatal(a)
		}
		if a := r.Cancel(s); a != Pointless {
			t.Error("twice:", a)
		}
		if c.late {
			f.completeOne()
			if r.Reap(nil) != 0 {
				t.Error("told before the cancellation has completed")
			}
			if a := r.Cancel(s); a != Pointless {
				t.Error("after its end:", a)
			}
		}
		if err := r.Enter(All, 1, -1); err != nil {
			t.Fatal(err)
		}
		n := r.Reap(func(got Completion) {
			if got.Res != c.res || got.Cancel != c.out || got.Slot.Index() != s.Index() {
				t.Errorf("%s: %+v", c.what, got)
			}
		})
		if n != 1 {
			t.Error(c.what, n)
		}
		if a := r.Cancel(s); a != Pointless {
			t.Error("when it is over:", a)
		}
	}
	if a := r.Cancel(r.name(r.wakeSlot())); a != Pointless {
		t.Error("the ring's own:", a)
	}
}

func TestThereAreOnlySoManyCancellationsAtATime(t *testing.T) {
	f, r := ring(t, Config{Slots: 200})
	f.hold = func(sqe) bool { return true }
	var all []Slot
	for s, ok := r.Take(); ok; s, ok = r.Take() {
		r.Nop(s)
		all = append(all, s)
	}
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range all {
		switch r.Cancel(s) {
		case Described:
			if n++; n > r.Info().Cancels {
				t.Fatalf("%d cancellations, at most %d are allowed", n, r.Info().Cancels)
			}
		case NotNow:
			if n != r.Info().Cancels {
				t.Fatalf("not now after %d", n)
			}
			if err := r.Submit(); err != nil {
				t.Fatal(err)
			}
			r.Reap(nil)
			n = 0
		case Pointless:
			t.Fatal("pointless")
		}
		if len(f.kept) > 0 {
			t.Fatal("overflow")
		}
	}
}

func TestACancellationOnARetiredRingHasFailed(t *testing.T) {
	f, r := ring(t, Config{})
	f.hold = func(sqe) bool { return true }
	s, _ := r.Take()
	r.Nop(s)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	both, _ := r.Take()
	r.Nop(both)
	r.Cancel(both) // neither has been taken
	ended, _ := r.Take()
	r.Nop(ended)
	r.Cancel(s)
	if err := r.Enter(2, 0, 0); err != nil { // both and its cancellation
		t.Fatal(err)
	}
	f.completeIf(func(e sqe) bool { return e.userData == uint64(s) }, 7)
	r.Reap(nil)
	f.nth(1, 1, errINVAL)
	if err := r.Submit(); err == nil {
		t.Fatal("no error")
	}
	told := map[int]Completion{}
	r.Reap(func(c Completion) { told[c.Slot.Index()] = c })
	if c := told[s.Index()]; c.Res != 7 || c.Dropped || c.Cancel != CancelFailed {
		t.Errorf("a late success: %+v", c)
	}
	if c := told[ended.Index()]; !c.Dropped {
		t.Errorf("never taken: %+v", c)
	}
	if r.Busy() != 0 || r.owed != 0 || r.cancels != 0 {
		t.Error(r.Busy(), r.owed, r.cancels)
	}
	if a := r.Cancel(s); a != Pointless {
		t.Error(a)
	}
}
