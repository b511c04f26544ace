package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestGrowingStartsAsManyAsFit(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 3, Waiters: 3, Patience: patience})
		runner := come(t, g, Request{})
		line := comeAll(t, g, 6, Request{})
		g.Resize(5)
		synctest.Wait()
		must(t, Granted, line[:4]...)
		must(t, 0, line[4:]...)
		atRest(t, g)
		g.Resize(99)
		synctest.Wait()
		must(t, Granted, line...)
		releaseAll(t, append(line, runner)...)
		empty(t, g)
	})
}

func TestShrinkingInterruptsNobodyAndStartsNobody(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 4, Queue: 9, Patience: patience})
		runners := comeAll(t, g, 4, Request{})
		line := comeAll(t, g, 2, Request{})
		g.Resize(2)
		synctest.Wait()
		must(t, Granted, runners...)
		must(t, Busy, come(t, g, Request{NoWait: true}))
		releaseAll(t, runners[:2]...)
		must(t, 0, line...) // two run, two slots
		must(t, Busy, come(t, g, Request{NoWait: true}))
		atRest(t, g)
		runners[2].release(t)
		must(t, Granted, line[0])
		serve(t, runners[3], line[1])
		line[0].release(t)
		if s := g.Stats(); s.Slots != 2 || s.Running != 0 {
			t.Errorf("%d slots, %d running, want 2 and 0", s.Slots, s.Running)
		}
		empty(t, g)
	})
}

func TestFreeSlotsAreWithdrawnAtOnce(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 8, Queue: 9, Patience: patience})
		runners := comeAll(t, g, 2, Request{})
		g.Resize(3)
		runners = append(runners, come(t, g, Request{NoWait: true}))
		must(t, Granted, runners...)
		must(t, Busy, come(t, g, Request{NoWait: true}))
		releaseAll(t, runners...)
		empty(t, g)
	})
}

func TestToAndFroTheNumberOfSlotsIsExact(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		for _, reserved := range []int{0, 2} {
			g := newGate(Config{Slots: 5, Reserved: reserved, Queue: 99, Patience: patience})
			running := comeAll(t, g, 5-reserved, Request{})
			for _, n := range []int{3, 4, 3, 9, 8, 4, 20, 3, 5} {
				g.Resize(n)
				synctest.Wait()
				atRest(t, g)
				line := comeAll(t, g, 20, Request{})
				for len(running) > n-reserved { // the debt
					running[0].release(t)
					running = running[1:]
				}
				for len(running) < n-reserved {
					running = append(running, line[0])
					line = line[1:]
				}
				must(t, Granted, running...)
				must(t, 0, line...)
				for _, c := range line {
					c.leave()
				}
				atRest(t, g)
			}
			releaseAll(t, running...)
			empty(t, g)
		}
	})
}

func TestADebtIsForgivenByGrowing(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 4, Queue: 9, Patience: patience})
		runners := comeAll(t, g, 4, Request{})
		g.Resize(1)
		g.Resize(3) // one more than may go on
		w := come(t, g, Request{})
		runners[0].release(t)
		must(t, 0, w)
		runners[1].release(t)
		must(t, Granted, w)
		releaseAll(t, runners[2], runners[3], w)
		empty(t, g)
	})
}

// A waiter is on its way to a slot that a newcomer has taken; the gate shrinks; the
// other runner has freed its slot, and is about to see that it is owed.
func TestNoCallStartsWhileSlotsAreOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 2, Queue: 9, Patience: patient})
		a, b := take(t, g, Request{}), take(t, g, Request{})
		k := standIn(t, g, Request{})
		a.Release()
		a = take(t, g, Request{})
		g.Resize(1)
		unlookedRelease(b)
		if _, v := arrive(g, k); v != 0 {
			t.Error("a second call starts beside one that runs, with one slot")
		}
		g.freed()
		atRest(t, g)
		if inFlight(g) {
			t.Error("somebody was roused for a slot that was withdrawn")
		}
		a.Release()
		s, v := arrive(g, k)
		if v != Granted {
			t.Fatalf("verdict %d, want a slot", v)
		}
		s.Release()
		empty(t, g)
	})
}

func TestSlotsStayEvenlySpreadHoweverTheGateGrows(t *testing.T) {
	g := newGate(Config{Slots: 8, Patience: patient})
	for n := 9; n < 100; n++ {
		g.Resize(n)
		if n%7 == 0 {
			g.Resize(n / 2)
			g.Resize(n)
		}
	}
	for i := range g.shards {
		if s := g.shards[i].slots.Load(); s != share(99, len(g.shards), i) {
			t.Errorf("shard %d has %d slots", i, s)
		}
	}
	atRest(t, g)
}

func TestResizeReachesTheLargestNumberOfAShard(t *testing.T) {
	g := newGate(Config{Slots: 1, Patience: patient})
	g.Resize(running)
	var last Slot
	for range running {
		s, ok := g.Try()
		if !ok {
			t.Fatal("refused below the bound")
		}
		last = s
	}
	if _, ok := g.Try(); ok {
		t.Error("over the bound")
	}
	g.Close()
	last.Release()
	if _, ok := g.claim(true, false, false); ok {
		t.Error("a newcomer got into a closed shard")
	}
	atRest(t, g)
}
