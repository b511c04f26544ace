package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestUrgentCallersStartThoughNormalSlotsAndQueueAreFull(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 3, Reserved: 1, Queue: 1, Patience: patience})
		normal := comeAll(t, g, 2, Request{})
		queued := come(t, g, Request{})
		must(t, Overloaded, come(t, g, Request{}))
		urgent := come(t, g, Request{Urgent: true})
		must(t, Granted, append(normal, urgent)...)
		must(t, 0, queued)

		// The total is the cap: a second one waits.
		waits := come(t, g, Request{Urgent: true})
		must(t, 0, waits)
		urgent.release(t)
		must(t, Granted, waits)
		waits.release(t)
		must(t, 0, queued)
		serve(t, normal[0], queued)
		normal[1].release(t)
		empty(t, g)
	})
}

func TestNormalCallersNeverUseAReservedSlot(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 3, Reserved: 2, Queue: 9, Patience: patience})
		runner := come(t, g, Request{})
		queued := comeAll(t, g, 2, Request{})
		must(t, 0, queued...)
		must(t, Busy, come(t, g, Request{NoWait: true}))
		g.Evict(7) // whoever has nothing better to do looks for slots
		must(t, 0, queued...)
		serve(t, runner, queued...)
		empty(t, g)
	})
}

func TestAFreedReservedSlotWakesNoNormalWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, patience := range []time.Duration{strict, patient} {
			g := newGate(Config{Slots: 2, Reserved: 1, Queue: 9, Patience: patience})
			n := take(t, g, Request{})
			u := take(t, g, Request{Urgent: true})
			k := standIn(t, g, Request{})
			u.Release()
			if inFlight(g) || hasToken(k) {
				t.Error("woken for a slot that it may not use")
			}
			giveUp(g, k, Ended)
			n.Release()
			empty(t, g)
		}
	})
}

func TestNoTwoUrgentCallersInARowWhileOthersWait(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patience})
		runner := come(t, g, Request{})
		n := comeAll(t, g, 2, Request{})
		u := comeAll(t, g, 5, Request{Urgent: true})
		serve(t, runner, u[0], n[0], u[1], n[1], u[2], u[3], u[4])
		empty(t, g)
	})
}

// Urgent callers come and come; the normal one starts second.
func TestNormalCallersDoNotStarveBehindUrgentOnes(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 2, Reserved: 1, Queue: 9, Patience: patience})
		runner := come(t, g, Request{})
		reserve := come(t, g, Request{Urgent: true})
		normal := come(t, g, Request{})
		u := comeAll(t, g, 2, Request{Urgent: true})
		runner.release(t)
		must(t, Granted, u[0])
		u = append(u, come(t, g, Request{Urgent: true}))
		reserve.release(t) // the reserved slot does not count as a favour
		must(t, Granted, u[1])
		u[0].release(t)
		must(t, Granted, normal)
		must(t, 0, u[2])
		u[1].release(t)
		releaseAll(t, u[2], normal)
		empty(t, g)
	})
}

// A normal waiter is on its way to a slot that it has lost; until it comes nobody
// else is roused. When it comes, the urgent one hears of the reserved slot.
func TestARousedNormalCallerTellsTheUrgentOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 2, Reserved: 1, Queue: 9, Patience: patient})
		n := take(t, g, Request{})
		u := take(t, g, Request{Urgent: true})
		k := standIn(t, g, Request{})
		n.Release()
		n = take(t, g, Request{}) // overtakes
		waits := come(t, g, Request{Urgent: true})
		u.Release()
		synctest.Wait()
		must(t, 0, waits)
		if _, v := arrive(g, k); v != 0 {
			t.Errorf("verdict %d without a free slot", v)
		}
		synctest.Wait()
		must(t, Granted, waits)
		waits.release(t)
		n.Release()
		s, _ := arrive(g, k)
		s.Release()
		empty(t, g)
	})
}

// The reserved slot is free and an urgent caller is about to be called to it.
func TestStrictNoUrgentCallerOvertakesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 2, Reserved: 1, Queue: 9, Patience: strict})
		n := take(t, g, Request{})
		u := take(t, g, Request{Urgent: true})
		first := come(t, g, Request{Urgent: true})
		unlookedRelease(u)
		second := come(t, g, Request{Urgent: true})
		must(t, 0, first, second)
		g.freed()
		synctest.Wait()
		must(t, Granted, first)
		serve(t, first, second)
		n.Release()
		empty(t, g)
	})
}
