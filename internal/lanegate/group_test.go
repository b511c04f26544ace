package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestNobodyIsRefusedOrWaitsWhileANeighbourIsIdle(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(3, Config{Slots: 2, Queue: 1, Patience: patience})
		running := comeAll(t, gs[1], 6, Request{})
		must(t, Granted, running...)
		waits := come(t, gs[1], Request{})
		must(t, 0, waits)
		must(t, Overloaded, come(t, gs[1], Request{}))
		must(t, Busy, come(t, gs[2], Request{NoWait: true}))
		atRest(t, gs...)
		releaseAll(t, running...)
		must(t, Granted, waits)
		waits.release(t)
		empty(t, gs...)
	})
}

func TestAFreedSlotCallsTheNeighbours(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(3, Config{Slots: 1, Queue: 9, Patience: patience})
		runners := []*caller{come(t, gs[0], Request{}), come(t, gs[1], Request{}), come(t, gs[2], Request{})}
		line := comeAll(t, gs[0], 3, Request{})
		for i, k := range []int{2, 0, 1} { // whose slot becomes free does not matter
			must(t, 0, line[i:]...)
			runners[k].release(t)
			must(t, Granted, line[i])
		}
		releaseAll(t, line...)
		empty(t, gs...)
	})
}

func TestANeighboursOwnLineComesFirst(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(2, Config{Slots: 1, Queue: 9, Patience: patience})
		a, b := come(t, gs[0], Request{}), come(t, gs[1], Request{})
		stranger := come(t, gs[0], Request{})
		own := come(t, gs[1], Request{})
		b.release(t)
		must(t, Granted, own)
		must(t, 0, stranger)
		own.release(t)
		must(t, Granted, stranger)
		releaseAll(t, a, stranger)
		empty(t, gs...)
	})
}

// Also while the head of that line is still on its way to the slot.
func TestNoSlotIsBorrowedFromANeighbourWithALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := newGroup(2, Config{Slots: 1, Queue: 9, Patience: patient})
		a, b := come(t, gs[0], Request{}), come(t, gs[1], Request{})
		k := standIn(t, gs[1], Request{})
		b.release(t)
		stranger := come(t, gs[0], Request{})
		must(t, 0, stranger)
		s, v := arrive(gs[1], k)
		if v != Granted {
			t.Fatalf("verdict %d, want a slot", v)
		}
		s.Release()
		synctest.Wait()
		must(t, Granted, stranger)
		releaseAll(t, a, stranger)
		empty(t, gs...)
	})
}

// The neighbour has two free slots and one waiter, who is on its way. Its line
// dissolves when it comes, or leaves: only then may the other slot be lent.
func TestALineThatDissolvesCallsTheNeighbours(t *testing.T) {
	for _, comes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			gs := newGroup(2, Config{Slots: 2, Queue: 9, Patience: patient})
			as := comeAll(t, gs[0], 2, Request{})
			bs := comeAll(t, gs[1], 2, Request{})
			k := standIn(t, gs[1], Request{})
			waits := come(t, gs[0], Request{})
			releaseAll(t, bs...)
			must(t, 0, waits)
			if comes {
				s, _ := arrive(gs[1], k)
				defer s.Release()
			} else {
				giveUp(gs[1], k, Ended)
			}
			synctest.Wait()
			must(t, Granted, waits)
			releaseAll(t, append(as, waits)...)
			atRest(t, gs...)
		})
	}
}

// One who only asks, or is refused, makes the neighbour's line for a moment.
func TestALineThatWasNoneCallsTheNeighbours(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(2, Config{Slots: 1, Queue: 9, Patience: patience})
		a, b := come(t, gs[0], Request{}), take(t, gs[1], Request{})
		waits := come(t, gs[0], Request{})
		g := gs[1]
		g.mu.Lock()
		g.raise()
		unlookedRelease(b)
		g.lower()
		g.unlock()
		synctest.Wait()
		must(t, Granted, waits)
		g.freed()
		releaseAll(t, a, waits)
		empty(t, gs...)
	})
}

func TestReservedSlotsAreNeverLent(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(2, Config{Slots: 2, Reserved: 1, Queue: 9, Patience: patience})
		cs := comeAll(t, gs[0], 2, Request{})
		must(t, Granted, cs...) // one of them at the neighbour's
		u := comeAll(t, gs[0], 2, Request{Urgent: true})
		must(t, Granted, u[0])
		must(t, 0, u[1])
		n := come(t, gs[0], Request{})
		must(t, 0, n)
		u[0].release(t)
		must(t, Granted, u[1])
		must(t, 0, n)
		releaseAll(t, append(cs, u[1], n)...)
		empty(t, gs...)
	})
}

func TestAnIndebtedGateBorrowsButDoesNotLend(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(2, Config{Slots: 2, Queue: 9, Patience: patience})
		as := comeAll(t, gs[0], 2, Request{})
		gs[0].Resize(1)
		bs := comeAll(t, gs[0], 2, Request{})
		must(t, Granted, bs...)
		waits := come(t, gs[1], Request{})
		as[0].release(t) // pays the debt
		must(t, 0, waits)
		as[1].release(t) // is lent
		must(t, Granted, waits)
		releaseAll(t, append(bs, waits)...)
		empty(t, gs...)
	})
}

// Two slots are released, one of which is owed. The one that stays was freed by a
// releaser that saw the flag, and comes to the mutex when the debt is paid.
func TestTheNeighboursHearOfASlotThatWasNotOwed(t *testing.T) {
	for _, late := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			gs := newGroup(2, Config{Slots: 2, Queue: 9, Patience: patient})
			as, bs := comeAll(t, gs[0], 2, Request{}), comeAll(t, gs[1], 2, Request{})
			waits := come(t, gs[0], Request{})
			gs[1].Resize(1)
			for _, b := range bs[:late] {
				unlookedRelease(b.slot)
			}
			releaseAll(t, bs[late:]...)
			for range late {
				gs[1].freed()
			}
			synctest.Wait()
			must(t, Granted, waits)
			releaseAll(t, append(as, waits)...)
			empty(t, gs...)
		})
	}
}

func TestTheNeighboursHearOfNewSlots(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(2, Config{Slots: 1, Queue: 9, Patience: patience})
		running := comeAll(t, gs[0], 2, Request{})
		waits := come(t, gs[0], Request{})
		gs[1].Resize(2)
		synctest.Wait()
		must(t, Granted, waits)
		releaseAll(t, append(running, waits)...)
		empty(t, gs...)
	})
}

// A gate that closes may be drained at once, so nothing may start on it that looked
// at its flags before. (Its word is closed after the flag is raised.)
func TestNoSlotOfAClosedNeighbourIsBorrowed(t *testing.T) {
	gs := newGroup(2, Config{Slots: 1, Queue: 9, Patience: patient})
	s := take(t, gs[0], Request{})
	gs[1].shards[0].word.Or(closed)
	if _, ok := gs[0].claim(true, false, true); ok {
		t.Error("an accepted caller has borrowed it")
	}
	s.Release()
}

func TestTheLargestGroupLends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := newGroup(MaxGroup, Config{Slots: 1, Queue: 9, Patience: strict})
		cs := comeAll(t, gs[MaxGroup-1], MaxGroup, Request{})
		must(t, Granted, cs...)
		first, last := come(t, gs[0], Request{}), come(t, gs[MaxGroup-1], Request{})
		must(t, 0, first, last)
		cs[5].release(t)
		cs[6].release(t)
		must(t, Granted, first, last)
		releaseAll(t, append(append(cs[:5:5], cs[7:]...), first, last)...)
		empty(t, gs...)
	})
}
