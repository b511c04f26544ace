package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLineIsServedInOrder(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 3, Waiters: 3, Patience: patience})
		runner := come(t, g, Request{})
		line := comeAll(t, g, 6, Request{}) // three accepted, three not yet
		serve(t, runner, line...)
		empty(t, g)
	})
}

func TestTheOrderOfTheOthersSurvivesWhoLeaves(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 3, Waiters: 3, Patience: patience})
		runner := come(t, g, Request{})
		line := comeAll(t, g, 6, Request{})
		for _, i := range []int{0, 2, 5} { // head, middle and tail
			line[i].leave()
			must(t, Ended, line[i])
			atRest(t, g)
		}
		serve(t, runner, line[1], line[3], line[4])
		empty(t, g)
	})
}

func TestLIFOServesTheNewestAcceptedFirst(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		for _, waiting := range []int{2, 4} {
			g := newGate(Config{Slots: 1, Queue: 9, LIFO: true, Patience: patience})
			first := come(t, g, Request{})
			line := comeAll(t, g, waiting, Request{})
			if waiting == 2 {
				serve(t, first, line[1], line[0]) // A, C, B
			} else {
				serve(t, first, line[3], line[2], line[1], line[0]) // 0, 4, 3, 2, 1
			}
			empty(t, g)
		}
	})
}

// Promotion is first in, first out in both orders; once in the queue a promoted
// caller is its newest.
func TestLIFOPromotesTheOldest(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 2, Waiters: 2, LIFO: true, Patience: patience})
		first := come(t, g, Request{})
		c := comeAll(t, g, 4, Request{})
		serve(t, first, c[1], c[2], c[3], c[0])
		empty(t, g)
	})
}

// In strict order a free slot and a line exist together only while somebody is on
// its way to that slot. Newcomers of any kind must not take it from him.
func TestStrictNobodyOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: strict})
		s := take(t, g, Request{})
		first := come(t, g, Request{})
		unlookedRelease(s)
		if _, ok := g.Try(); ok {
			t.Error("Try has overtaken")
		}
		second := come(t, g, Request{})
		duty := come(t, g, Request{Must: true})
		urgent := come(t, g, Request{Urgent: true})
		must(t, 0, first, second, duty, urgent)
		must(t, Busy, come(t, g, Request{NoWait: true}), come(t, g, Request{NoWait: true, Urgent: true}))

		g.freed()
		synctest.Wait()
		must(t, Granted, urgent) // served first, but from the line
		serve(t, urgent, first, second, duty)
		empty(t, g)
	})
}

func TestStrictAFreedSlotIsHandedToTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: strict})
		s := take(t, g, Request{})
		head := standIn(t, g, Request{})
		s.Release()
		if g.shards[0].word.Load()&running != 1 {
			t.Error("the slot was free for a moment")
		}
		s, v := arrive(g, head)
		if v != Granted {
			t.Errorf("verdict %d, want a slot", v)
		}
		s.Release()
		empty(t, g)
	})
}

// Whoever waits for acceptance is older than any newcomer, so the place that becomes
// free in the queue is his.
func TestNoNewcomerOvertakesOneThatWaitsForAcceptance(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 2, Patience: patience})
		runner := come(t, g, Request{})
		queued := come(t, g, Request{})
		roomed := come(t, g, Request{})
		queued.leave() // its place goes to the one in the room, not to who comes next
		late := come(t, g, Request{})
		serve(t, runner, roomed, late)
		empty(t, g)
	})
}
