package uring

import (
	"errors"
	"syscall"
	"testing"
	"time"
)

// nops describes n operations that do nothing.
func nops(t *testing.T, r *Ring, n int) {
	t.Helper()
	for range n {
		s, ok := r.Take()
		if !ok {
			t.Fatal("no slot")
		}
		r.Nop(s)
	}
}

// nth makes the n-th enter from now on, and as many after it, fail with e.
func (f *fake) nth(n, times int, e syscall.Errno) {
	base := f.calls["enter"]
	f.fail = func(c string) syscall.Errno {
		if c == "enter" && f.calls[c] >= base+n && f.calls[c] < base+n+times {
			return e
		}
		return 0
	}
}

func TestAWaitSurvivesWhateverPasses(t *testing.T) {
	for _, e := range []syscall.Errno{errINTR, errAGAIN, errBUSY} {
		for n := 1; n < 4; n++ {
			for times := range 5 {
				f, r := ring(t, Config{})
				f.hold = func(sqe) bool { return true }
				f.most = 2
				nops(t, r, 5)
				f.nth(n, times, e)
				got := 0
				for range 100 {
					if err := r.Enter(All, 5, -1); err != nil {
						t.Fatal(e, n, times, err)
					}
					if got += r.Reap(func(Completion) {}); got == 5 {
						break
					}
				}
				if got != 5 {
					t.Errorf("%v, %d, %d: %d completions, want 5", e, n, times, got)
				}
			}
		}
	}
}

func TestASubmissionThatIsShortIsContinued(t *testing.T) {
	f, r := ring(t, Config{})
	f.most = 3
	nops(t, r, 10)
	if err := r.Submit(); err != nil || r.Filled() != 0 {
		t.Error(err, r.Filled())
	}
	if n := r.Reap(nil); n != 10 || f.calls["enter"] != 4 {
		t.Errorf("%d completions, want 10, by %d calls, want 4", n, f.calls["enter"])
	}
}

func TestAPartIsSubmitted(t *testing.T) {
	_, r := ring(t, Config{})
	nops(t, r, 10)
	if err := r.Enter(8, 0, 0); err != nil || r.Filled() != 2 {
		t.Error(err, r.Filled())
	}
	if err := r.Enter(All, 10, -1); err != nil || r.Filled() != 0 || r.Reap(nil) != 10 {
		t.Error(err, r.Filled())
	}
}

func TestATimeoutEndsTheWait(t *testing.T) {
	f, r := ring(t, Config{})
	f.hold = func(sqe) bool { return true }
	nops(t, r, 1)
	for _, signals := range []int{0, 3} {
		f.nth(1, signals, errINTR)
		start := f.clock
		if err := r.Enter(All, 1, time.Second); err != nil || r.Ready() {
			t.Error(err)
		}
		if got := f.clock - start; got != time.Second {
			t.Errorf("waited %v, want 1s", got)
		}
	}
	f.nth(1, 1, errTIME)
	if err := r.Enter(All, 1, time.Second); err != nil {
		t.Error(err)
	}
}

func TestAWaitOfNoTimeDoesNotWait(t *testing.T) {
	f, r := ring(t, Config{})
	f.hold = func(sqe) bool { return true }
	nops(t, r, 1)
	if err := r.Enter(All, 1, 0); err != nil || r.Filled() != 0 || r.wakeup.armed {
		t.Error(err)
	}
}

func TestNobodyWaitsForMoreThanCanCome(t *testing.T) {
	f, r := ring(t, Config{})
	f.hold = func(sqe) bool { return true }
	nops(t, r, 3)
	if err := r.Enter(All, 100, -1); err != nil || f.ready() != 3 {
		t.Error(err, f.ready())
	}
	r.Reap(nil)
	if f.waits > 0 {
		t.Error("waited for ever")
	}
}

func TestASubmissionPutOffIsTheCallersToRepeatIfHeDoesNotWait(t *testing.T) {
	f, r := ring(t, Config{})
	nops(t, r, 3)
	f.nth(1, 1, errAGAIN)
	if err := r.Submit(); err != nil || r.Filled() != 3 || r.Stats().Again != 1 {
		t.Error(err, r.Filled())
	}
	if err := r.Submit(); err != nil || r.Filled() != 0 || r.Reap(nil) != 3 {
		t.Error(err, r.Filled())
	}
}

func TestARingThatCannotSubmitForLackOfMemoryIsRetiredAtLast(t *testing.T) {
	f, r := ring(t, Config{})
	nops(t, r, 3)
	f.nth(1, 1000, errAGAIN)
	err := r.Enter(All, 1, -1)
	if !errors.Is(err, ErrRetired) || !errors.Is(err, errAGAIN) || f.calls["sleep"] == 0 {
		t.Error(err)
	}
	n := 0
	r.Reap(func(c Completion) {
		if c.Dropped {
			n++
		}
	})
	if n != 3 {
		t.Errorf("%d dropped, want 3", n)
	}
}

func TestAnInfrastructureErrorRetiresTheRing(t *testing.T) {
	for _, e := range []syscall.Errno{syscall.EBADF, syscall.ENXIO, syscall.EFAULT, errINVAL, syscall.EEXIST, syscall.EIO, errNOMEM, syscall.EPERM} {
		f, r := ring(t, Config{})
		f.hold = func(sqe) bool { return true }
		nops(t, r, 4)
		if err := r.Submit(); err != nil {
			t.Fatal(err)
		}
		spare, _ := r.Take()
		nops(t, r, 3)
		f.nth(1, 1, e)
		err := r.Submit()
		if !errors.Is(err, ErrRetired) || !errors.Is(err, e) {
			t.Error(err)
		}
		if _, ok := r.Take(); ok {
			t.Error("a slot of a retired ring")
		}
		r.Nop(spare) // was taken before
		if err := r.Enter(All, 1, -1); !errors.Is(err, e) {
			t.Error(err)
		}
		dropped, ended := 0, 0
		count := func(c Completion) {
			if c.Dropped {
				dropped++
			} else {
				ended++
			}
		}
		r.Reap(count)
		for r.Busy() > 0 {
			if err := r.Enter(0, 1, -1); err != nil {
				t.Fatal(err)
			}
			r.Reap(count)
		}
		if dropped != 4 || ended != 4 {
			t.Errorf("%d dropped and %d ended, want 4 and 4", dropped, ended)
		}
		if s := r.Stats(); s.Dropped != 4 || s.Completed != 4 {
			t.Errorf("%+v", s)
		}
		closed(t, r, f)
	}
}

func TestAFullQueueRefusesAndEnterMakesRoom(t *testing.T) {
	_, r := ring(t, Config{Slots: 100, Entries: 4})
	for range 10 {
		n := 0
		for {
			s, ok := r.Take()
			if !ok {
				break
			}
			r.Nop(s)
			n++
		}
		if n != 3 { // one is for the wake-up
			t.Fatalf("%d granted, want 3", n)
		}
		if err := r.Enter(All, 1, -1); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.Reap(nil); n != 30 {
		t.Errorf("%d reaped, want 30", n)
	}
}

func TestMoreSlotsThanEntriesAreInFlight(t *testing.T) {
	f, r := ring(t, Config{Slots: 50, Entries: 4})
	f.hold = func(sqe) bool { return true }
	n := 0
	for r.Err() == nil {
		s, ok := r.Take()
		if !ok {
			if r.Filled() == 0 {
				break
			}
			if err := r.Submit(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r.Nop(s)
		n++
	}
	if n != 50 || len(f.flight) != 50 {
		t.Errorf("%d in flight, want 50", n)
	}
}

func TestAnOverflowIsFlushed(t *testing.T) {
	f, r := ring(t, Config{Slots: 8})
	nops(t, r, 8)
	for range int(f.p.cqEntries) { // of somebody else's
		f.post(1<<63, 0)
	}
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for range 5 {
		n += r.Reap(nil)
	}
	if s := r.Stats(); n != 8 || s.Overflows == 0 || s.Stray != uint64(f.p.cqEntries) {
		t.Errorf("%d reaped, want 8: %+v", n, s)
	}
}

func TestASubmissionThatTakesNothingIsPutOff(t *testing.T) {
	f, r := ring(t, Config{})
	f.most = -1
	nops(t, r, 3)
	if err := r.Submit(); err != nil || r.Filled() != 3 {
		t.Error(err, r.Filled())
	}
	if err := r.Enter(All, 1, -1); !errors.Is(err, errAGAIN) || !errors.Is(err, ErrRetired) {
		t.Error(err)
	}
	f.most = 0
}
