package lanegate

import (
	"testing"
	"testing/synctest"
)

// Whoever frees a slot while a roused caller is on its way leaves it at that, and does
// not need the mutex: the one on its way sees the slot and rouses the next.
func TestASlotFreedWhileSomebodyIsOnTheWayIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 3, Queue: 9, Patience: patient})
		a, b, c := take(t, g, Request{}), take(t, g, Request{}), take(t, g, Request{})
		k := standIn(t, g, Request{})
		second, third := come(t, g, Request{}), come(t, g, Request{})
		a.Release()
		if !inFlight(g) {
			t.Fatal("not roused")
		}
		g.mu.Lock() // whoever needs it hangs, which the bubble reports
		b.Release()
		c.Release()
		g.mu.Unlock()
		synctest.Wait()
		must(t, 0, second, third) // their turn comes when the one on its way has looked
		s, v := arrive(g, k)
		if v != Granted {
			t.Fatalf("verdict %d", v)
		}
		synctest.Wait()
		must(t, Granted, second, third)
		s.Release()
		releaseAll(t, second, third)
		empty(t, g)
	})
}

// The one on its way may give up: then it passes on what was left to it.
func TestASlotLeftToOneWhoGivesUpIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 2, Queue: 9, Patience: patient})
		a, b := take(t, g, Request{}), take(t, g, Request{})
		k := standIn(t, g, Request{})
		next := comeAll(t, g, 2, Request{})
		a.Release()
		b.Release()
		if _, v := giveUp(g, k, Ended); v != Ended {
			t.Fatalf("verdict %d", v)
		}
		synctest.Wait()
		must(t, Granted, next...)
		releaseAll(t, next...)
		empty(t, g)
	})
}

// The mutex is done without only where nothing else has to be done with the slot: it
// belongs to nobody, is not owed, and nobody asks who was the last out.
func TestWhenASlotIsFreedWithoutTheMutex(t *testing.T) {
	patientGate, strictGate := newGate(Config{Slots: 1, Patience: patient}), newGate(Config{Slots: 1, Patience: strict})
	for f := range uint32(flight << 1) {
		want := f == 0 || f&flight != 0 && f&(starving|closing|indebted) == 0
		if got := patientGate.lets(f); got != want {
			t.Errorf("patient, flags %b: %v, want %v", f, got, want)
		}
		want = f == 0 || f&flight != 0 && f&(waiting|starving|closing|indebted) == 0
		if got := strictGate.lets(f); got != want {
			t.Errorf("strict, flags %b: %v, want %v", f, got, want)
		}
	}
}
