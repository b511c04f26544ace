package uring

import (
	"testing"
)

func TestACompletionThatBelongsToNobodyIsCountedAndDropped(t *testing.T) {
	f, r := ring(t, Config{Slots: 4})
	f.hold = func(sqe) bool { return true }
	s, _ := r.Take()
	r.Nop(s)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	f.completeOne()
	if r.Reap(nil) != 1 {
		t.Fatal("not reaped")
	}
	again, _ := r.Take()
	if again.Index() != s.Index() || again == s {
		t.Fatalf("%x after %x: want the same place and another name", again, s)
	}
	taken, _ := r.Take()
	r.Nop(again)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	foreign := []uint64{
		uint64(s),                     // late, or twice
		uint64(taken),                 // not the kernel's
		uint64(again) + 1<<32,         // the next one
		uint64(again) | ofCancel,      // nobody has cancelled
		0, 1<<64 - 1, 1<<32 | 1000, 1, // never given out
		uint64(r.name(r.wakeSlot())), uint64(r.name(r.sweepSlot())),
	}
	for _, u := range foreign {
		f.post(u, 1)
	}
	if n := r.Reap(func(c Completion) { t.Error(c) }); n != 0 || r.Stats().Stray != uint64(len(foreign)) {
		t.Errorf("%d credited, %d stray, want %d", n, r.Stats().Stray, len(foreign))
	}
	f.completeOne()
	if n := r.Reap(func(c Completion) {
		if c.Slot.Index() != again.Index() || c.Res != 0 {
			t.Error(c)
		}
	}); n != 1 {
		t.Error("lost")
	}
	r.Drop(taken)
}

func TestAnnouncedCompletionsDoNotFreeTheSlot(t *testing.T) {
	f, r := ring(t, Config{})
	f.hold = func(sqe) bool { return true }
	nops(t, r, 1)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	f.put(cqe{userData: f.flight[0].userData, flags: cqeMore})
	if r.Reap(nil) != 0 || r.Busy() != 1 {
		t.Error("freed")
	}
}

func TestAGenerationIsNeverZero(t *testing.T) {
	_, r := ring(t, Config{Slots: 1})
	r.slots[0].generation = ^uint32(0)
	s, _ := r.Take()
	r.Drop(s)
	if s, _ = r.Take(); s.generation() != 1 {
		t.Errorf("generation %d, want 1", s.generation())
	}
	r.Drop(s)
}

func TestASlotThatIsNotTakenIsNotUsed(t *testing.T) {
	_, r := ring(t, Config{})
	s, _ := r.Take()
	r.Drop(s)
	busy, _ := r.Take()
	r.Nop(busy)
	for _, wrong := range []Slot{0, s, busy, 1<<32 | 100000, r.name(r.wakeSlot())} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%x: no panic", wrong)
				}
			}()
			r.Nop(wrong)
		}()
	}
}

func TestADroppedSlotGivesItsPlaceBack(t *testing.T) {
	_, r := ring(t, Config{Slots: 3})
	for range 10 {
		var all []Slot
		for s, ok := r.Take(); ok; s, ok = r.Take() {
			all = append(all, s)
		}
		if len(all) != 3 {
			t.Fatalf("%d granted, want 3", len(all))
		}
		for _, s := range all {
			r.Drop(s)
		}
	}
}

func TestASlotIsNotTakenAgainBeforeItsCompletionWasTold(t *testing.T) {
	_, r := ring(t, Config{Slots: 8})
	pending := map[int]bool{}
	describe := func() {
		for s, ok := r.Take(); ok; s, ok = r.Take() {
			if pending[s.Index()] {
				t.Fatalf("%d twice", s.Index())
			}
			pending[s.Index()] = true
			r.Nop(s)
		}
	}
	total := 0
	var told func(c Completion)
	told = func(c Completion) {
		if !pending[c.Slot.Index()] {
			t.Fatalf("%d told twice", c.Slot.Index())
		}
		delete(pending, c.Slot.Index())
		if total++; total < 500 {
			describe()
			if total%3 == 0 {
				if err := r.Submit(); err != nil {
					t.Fatal(err)
				}
			}
			if total%7 == 0 {
				r.Reap(told) // from inside
			}
		}
	}
	describe()
	for r.Busy() > 0 {
		if err := r.Enter(All, 1, -1); err != nil {
			t.Fatal(err)
		}
		r.Reap(told)
	}
	if len(pending) > 0 {
		t.Errorf("%d never told", len(pending))
	}
}

func TestReapTellsWhatWasThereWhenItBegan(t *testing.T) {
	_, r := ring(t, Config{})
	nops(t, r, 1)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	n := r.Reap(func(Completion) { // completes at once, so that it could go on for ever
		nops(t, r, 1)
		if err := r.Submit(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 1 {
		t.Errorf("%d told, want 1", n)
	}
}

func TestAPanicInDoneLosesNothing(t *testing.T) {
	_, r := ring(t, Config{})
	nops(t, r, 5)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	told := 0
	for range 5 {
		func() {
			defer func() { _ = recover() }()
			r.Reap(func(Completion) { told++; panic("done") })
		}()
	}
	if told != 5 || r.Busy() != 0 {
		t.Errorf("%d told, want 5", told)
	}
}

func TestTheSlotIsFreeBeforeItsCompletionIsTold(t *testing.T) {
	_, r := ring(t, Config{Slots: 1})
	nops(t, r, 1)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	if r.Reap(func(Completion) { nops(t, r, 1) }) != 1 || r.Busy() != 1 {
		t.Error("not told")
	}
}

func TestAWaitFromInsideKnowsOfThoseNotToldYet(t *testing.T) {
	f, r := ring(t, Config{})
	nops(t, r, 5)
	if err := r.Submit(); err != nil {
		t.Fatal(err)
	}
	told := 0
	done := func(Completion) { told++ }
	r.Reap(func(Completion) {
		told++
		if told > 1 {
			return
		}
		if err := r.Enter(All, 4, -1); err != nil { // four are copied, none is in the queue
			t.Error(err)
		}
		r.Reap(done)
	})
	if told != 5 || f.waits > 0 {
		t.Errorf("%d told, want 5", told)
	}
}
