package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

// onTheirWay checks which of the tickets have a token, and takes none of them.
func onTheirWay(t *testing.T, g *Gate, want *Ticket, ks ...*Ticket) {
	t.Helper()
	for i, k := range ks {
		if k.rousing != (k == want) {
			t.Errorf("ticket %d: roused %v, want %v", i, k.rousing, k == want)
		}
		if k != want && hasToken(k) {
			t.Errorf("ticket %d: has a token and is not roused", i)
		}
	}
	if inFlight(g) != (want != nil) {
		t.Errorf("flight %v", inFlight(g))
	}
}

func TestManyReleasesWakeOneWaiterOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 8, Queue: 9, Patience: patient})
		var slots []Slot
		for range 8 {
			slots = append(slots, take(t, g, Request{}))
		}
		k := standIn(t, g, Request{})
		for _, s := range slots { // a second token would make Wake panic
			s.Release()
		}
		s, v := arrive(g, k)
		if v != Granted || hasToken(k) {
			t.Errorf("verdict %d, or woken twice", v)
		}
		s.Release()
		empty(t, g)
	})
}

// One is on his way at a time; having looked he calls the next, as long as there
// is a slot for him. As many are woken as there are slots.
func TestTheRousedCallOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 3, Queue: 9, Patience: patient})
		var slots []Slot
		for range 3 {
			slots = append(slots, take(t, g, Request{}))
		}
		var ks []*Ticket
		for range 5 {
			ks = append(ks, standIn(t, g, Request{}))
		}
		for _, s := range slots {
			s.Release()
		}
		for i := range 3 {
			onTheirWay(t, g, ks[i], ks[i:]...)
			s, v := arrive(g, ks[i])
			if v != Granted {
				t.Fatalf("verdict %d for waiter %d", v, i)
			}
			slots[i] = s
		}
		onTheirWay(t, g, nil, ks[3:]...)
		for _, k := range ks[3:] {
			giveUp(g, k, Ended)
		}
		for _, s := range slots {
			s.Release()
		}
		empty(t, g)
	})
}

func TestARousedWaiterThatFindsNothingCallsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		first, second := standIn(t, g, Request{}), standIn(t, g, Request{})
		s.Release()
		s = take(t, g, Request{})
		if _, v := arrive(g, first); v != 0 {
			t.Fatalf("verdict %d without a free slot", v)
		}
		onTheirWay(t, g, nil, first, second)
		s.Release() // calls the first again: it has kept its place
		onTheirWay(t, g, first, first, second)
		s, _ = arrive(g, first)
		s.Release()
		s, _ = arrive(g, second)
		s.Release()
		empty(t, g)
	})
}

// A waiter is on its way to a free slot when another slot is handed to it: its one
// token tells it of both, and the free slot goes to the next.
func TestAGrantToARousedWaiterNeedsNoSecondToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 2, Queue: 9, Patience: 10 * ms})
		a, b := take(t, g, Request{}), take(t, g, Request{})
		first, second := standIn(t, g, Request{}), standIn(t, g, Request{})
		a.Release()
		time.Sleep(10 * ms)
		synctest.Wait() // starving
		b.Release()
		onTheirWay(t, g, second, second)
		for _, k := range []*Ticket{first, second} {
			s, v := arrive(g, k)
			if v != Granted || hasToken(k) {
				t.Errorf("verdict %d, or a token is left", v)
			}
			s.Release()
		}
		empty(t, g)
	})
}

func TestARousedWaiterThatIsRefusedPassesTheWakeUpOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Waiters: 9, Patience: patient})
		s := take(t, g, Request{})
		first, second := standIn(t, g, Request{Owner: 1}), standIn(t, g, Request{Owner: 2})
		s.Release()
		g.Evict(1)
		onTheirWay(t, g, second, second)
		if _, v := arrive(g, first); v != Closed || hasToken(first) {
			t.Errorf("verdict %d, or a token is left", v)
		}
		s, _ = arrive(g, second)
		s.Release()
		empty(t, g)
	})
}

// Dekker's two cases. The waiter raises its flag and then looks; the releaser frees
// the slot and then looks.
func TestAWaiterAndAReleaserCannotMissOneAnother(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patience})
		s := take(t, g, Request{})
		unlookedRelease(s) // freed before the waiter looks: it finds the slot
		c := come(t, g, Request{})
		must(t, Granted, c)

		w := come(t, g, Request{})
		unlookedRelease(c.slot) // freed after that: the releaser finds the flag
		g.freed()
		synctest.Wait()
		must(t, Granted, w)
		w.release(t)
		empty(t, g)
	})
}

// The releaser freed the slot, and another took it, before it came to the mutex.
func TestAReleaserWhoseSlotIsGoneWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		unlookedRelease(s)
		s = take(t, g, Request{})
		k := standIn(t, g, Request{})
		g.freed()
		onTheirWay(t, g, nil, k)
		s.Release()
		s, _ = arrive(g, k)
		s.Release()
		empty(t, g)
	})
}

func TestTheTimerRescuesNobody(t *testing.T) {
	// Nothing but the protocol may find a lost wake-up: were the timer to do it, it
	// would hide every fault of it.
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: ms})
		s := take(t, g, Request{})
		w := come(t, g, Request{})
		unlookedRelease(s)
		time.Sleep(10 * ms)
		synctest.Wait()
		must(t, 0, w)
		g.freed()
		synctest.Wait()
		must(t, Granted, w)
		w.release(t)
		empty(t, g)
	})
}
