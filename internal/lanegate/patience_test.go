package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

// overtake reports whether a newcomer gets a slot now, and gives it back.
func overtake(g *Gate) bool {
	s, ok := g.Try()
	if ok {
		unlookedRelease(s) // the head is on its way already
	}
	return ok
}

// The head of the line was roused for a free slot and is slow to come. Newcomers
// may take the slot from it until it has waited for as long as Patience, not after.
func TestAWaiterIsOvertakenOnlyWhileItHasWaitedLessThanPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: 10 * ms})
		s := take(t, g, Request{})
		head := standIn(t, g, Request{})
		s.Release()
		for at := time.Duration(0); at < 20*ms; at += ms {
			if got, want := overtake(g), at < 10*ms; got != want {
				t.Errorf("after %v: overtaken %v, want %v", at, got, want)
			}
			time.Sleep(ms)
			synctest.Wait()
		}
		if c := come(t, g, Request{NoWait: true, Urgent: true}); c.got() != Busy {
			t.Error("overtaken by an urgent newcomer")
		}
		if c := come(t, g, Request{NoWait: true, Must: true}); c.got() != Busy {
			t.Error("overtaken by a newcomer on duty")
		}
		atRest(t, g)

		s, v := arrive(g, head)
		if v != Granted {
			t.Fatalf("verdict %d, want a slot", v)
		}
		if !overtake(g) && g.flags.Load() != 0 {
			t.Error("newcomers are barred though nobody waits")
		}
		s.Release()
		empty(t, g)
	})
}

// The second in line came at 8 ms: it has its own 10 ms, whether or not the one
// before it was starving when it was served.
func TestEachHeadHasItsOwnPatience(t *testing.T) {
	for _, served := range []time.Duration{9 * ms, 12 * ms} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(Config{Slots: 1, Queue: 9, Patience: 10 * ms})
			s := take(t, g, Request{})
			first := standIn(t, g, Request{})
			time.Sleep(8 * ms)
			second := standIn(t, g, Request{})
			time.Sleep(served - 8*ms)
			synctest.Wait()
			s.Release()
			s, _ = arrive(g, first)
			s.Release() // rouses the second
			for at := served; at < 22*ms; at += ms {
				if got, want := overtake(g), at < 18*ms; got != want {
					t.Errorf("served at %v: after %v: overtaken %v, want %v", served, at, got, want)
				}
				time.Sleep(ms)
				synctest.Wait()
			}
			s, _ = arrive(g, second)
			s.Release()
			empty(t, g)
		})
	}
}

// The clock was set for a head that has left since.
func TestPatienceOfTheNextCountsFromWhenItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: 10 * ms})
		runner := come(t, g, Request{})
		first := come(t, g, Request{})
		time.Sleep(4 * ms)
		second := come(t, g, Request{})
		time.Sleep(ms)
		first.leave()
		time.Sleep(9*ms - 1)
		synctest.Wait()
		if g.flags.Load()&starving != 0 {
			t.Error("starving too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if g.flags.Load()&starving == 0 {
			t.Error("not starving after 10 ms")
		}
		serve(t, runner, second)
		empty(t, g)
	})
}

func TestAStarvingGateHandsOverInOrderUntilTheHeadIsYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: 10 * ms})
		s := take(t, g, Request{})
		old := []*Ticket{standIn(t, g, Request{}), standIn(t, g, Request{})}
		time.Sleep(10 * ms)
		synctest.Wait()
		young := standIn(t, g, Request{})
		for i, k := range old {
			s.Release()
			if k.state.Load() == 0 {
				t.Fatalf("the slot was not handed to waiter %d", i)
			}
			s, _ = arrive(g, k)
		}
		if g.flags.Load()&starving != 0 {
			t.Error("still starving, though the head has just come")
		}
		s.Release()
		if young.state.Load() != 0 {
			t.Error("handed over to a head that has not waited long")
		}
		s, _ = arrive(g, young)
		s.Release()
		empty(t, g)
	})
}

// A timer may be late. A caller that was overtaken looks at the clock itself.
func TestAnOvertakenWaiterNeedsNoTimerToStarve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: 10 * ms})
		s := take(t, g, Request{})
		head := standIn(t, g, Request{})
		g.patient.timer.Stop()
		s.Release()
		time.Sleep(10 * ms)
		s = take(t, g, Request{})
		if _, v := arrive(g, head); v != 0 {
			t.Fatalf("verdict %d without a free slot", v)
		}
		s.Release()
		if head.state.Load() == 0 {
			t.Error("the slot was not handed over")
		}
		s, _ = arrive(g, head)
		s.Release()
		empty(t, g)
	})
}

func TestTheClockRunsOnlyWhileSomebodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: 10 * ms})
		runner := come(t, g, Request{})
		if g.patient.armed {
			t.Error("nobody waits")
		}
		serve(t, runner, come(t, g, Request{}))
		time.Sleep(11 * ms)
		synctest.Wait()
		if g.patient.armed {
			t.Error("nobody waits any more")
		}
		runner = come(t, g, Request{})
		w := come(t, g, Request{})
		atRest(t, g) // the clock runs again
		serve(t, runner, w)
	})
}

func TestStrictOrderNeedsNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: strict})
		runner := come(t, g, Request{})
		w := come(t, g, Request{})
		if g.patient.timer != nil {
			t.Error("a timer was made")
		}
		serve(t, runner, w)
	})
}

func TestZeroPatienceStarvesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9})
		s := take(t, g, Request{})
		head := come(t, g, Request{})
		if g.flags.Load()&starving == 0 {
			t.Error("not starving")
		}
		s.Release()
		synctest.Wait()
		must(t, Granted, head)
		head.release(t)
		empty(t, g)
	})
}

// A caller on duty goes past those that wait for acceptance. That costs them one
// place, not their patience, also when they are promoted behind it.
func TestOneBehindACallerOnDutyStarvesInTime(t *testing.T) {
	for _, queue := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(Config{Slots: 1, Queue: queue, Waiters: 9, Patience: 10 * ms})
			runner := come(t, g, Request{})
			first := comeAll(t, g, queue, Request{})
			w := come(t, g, Request{})
			time.Sleep(9 * ms)
			duty := come(t, g, Request{Must: true})
			for _, c := range first {
				c.leave()
			}
			time.Sleep(ms)
			synctest.Wait()
			if g.flags.Load()&starving == 0 {
				t.Errorf("queue %d: not starving after 10 ms", queue)
			}
			serve(t, runner, duty, w)
			empty(t, g)
		})
	}
}
