package lanegate

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCloseRefusesTheRoomAndRunsTheQueue(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 2, Reserved: 1, Queue: 2, Waiters: 2, Patience: patience})
		runner := come(t, g, Request{})
		reserve := come(t, g, Request{Urgent: true})
		queued, roomed := comeAll(t, g, 2, Request{}), comeAll(t, g, 2, Request{})
		uQueued, uRoomed := comeAll(t, g, 2, Request{Urgent: true}), comeAll(t, g, 2, Request{Urgent: true})
		g.Close()
		synctest.Wait()
		must(t, Closed, append(roomed, uRoomed...)...)
		must(t, Closed, come(t, g, Request{}), come(t, g, Request{Urgent: true}), come(t, g, Request{NoWait: true}))
		must(t, 0, append(queued, uQueued...)...)
		atRest(t, g)
		reserve.release(t)
		must(t, Granted, uQueued[0])
		serve(t, runner, uQueued[1], queued[0], queued[1])
		uQueued[0].release(t)
		if n := g.Stats().Refused[Closed]; n != 7 {
			t.Errorf("%d refused, want 7", n)
		}
		empty(t, g)
	})
}

// The flag is only a hint for the fast half: the word refuses also a newcomer that
// looked at the flag before.
func TestNoNewcomerGetsInAfterClose(t *testing.T) {
	g := newGate(Config{Slots: 9, Reserved: 1, Patience: patient})
	g.Close()
	if _, ok := g.Try(); ok {
		t.Error("Try got in")
	}
	if _, ok := g.claim(true, true, false); ok {
		t.Error("one that had looked at the flags before got in")
	}
}

func TestMustPassesAClosedGateAndTheBoundsOfTheLine(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Patience: patience})
		runner := come(t, g, Request{})
		must(t, Overloaded, come(t, g, Request{}))
		waits := come(t, g, Request{Must: true})
		must(t, 0, waits)
		g.Close()
		duty := come(t, g, Request{Must: true})
		must(t, 0, waits, duty)
		serve(t, runner, waits, duty)
		free := come(t, g, Request{Must: true})
		free.release(t)
		empty(t, g)
	})
}

func TestShutRefusesMustButRunsWhatWasAccepted(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Patience: patience})
		runner := come(t, g, Request{})
		queued, duty := come(t, g, Request{}), come(t, g, Request{Must: true})
		g.Shut()
		must(t, Closed, come(t, g, Request{Must: true}), come(t, g, Request{}))
		serve(t, runner, queued, duty)
		empty(t, g)
	})
}

func TestTheSecondCloseDoesNothing(t *testing.T) {
	g := newGate(Config{Slots: 1, Patience: patient})
	if !g.Close() {
		t.Error("the first does not inherit an empty gate")
	}
	if g.Close() {
		t.Error("the second inherits again")
	}
	g.Shut()
	g.Evict(1)
	empty(t, g)
}

func TestTheLastReleaseInherits(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		for _, slots := range []int{1, 3, 9} {
			g := newGate(Config{Slots: slots, Waiters: 3, Patience: patience})
			cs := comeAll(t, g, slots, Request{})
			waits := come(t, g, Request{})
			if g.Close() {
				t.Error("Close inherits while calls run")
			}
			synctest.Wait()
			must(t, Closed, waits)
			for i, c := range cs {
				if c.release(t) != (i == len(cs)-1) {
					t.Errorf("%d slots: release %d is wrong about being the last", slots, i)
				}
			}
		}
	})
}

func TestAnAcceptedCallerInheritsNotTheOneBeforeIt(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Patience: patience})
		runner := come(t, g, Request{})
		queued := come(t, g, Request{})
		if g.Close() || runner.release(t) {
			t.Error("inherits while an accepted caller is in line")
		}
		if !queued.release(t) {
			t.Error("was the last, and does not inherit")
		}
	})
}

// The slot is free, and an accepted caller is on its way to it, when the gate is
// closed; it comes, or gives up on the way.
func TestAnAcceptedCallerOnItsWayInherits(t *testing.T) {
	for _, givesUp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(Config{Slots: 1, Queue: 1, Patience: patient})
			s := take(t, g, Request{})
			k := standIn(t, g, Request{})
			s.Release()
			if g.Close() {
				t.Error("inherits while an accepted caller is on its way")
			}
			var v Verdict
			if givesUp {
				s, v = giveUp(g, k, Ended)
			} else {
				s, v = arrive(g, k)
			}
			if v != Granted || !s.Release() {
				t.Error("was the last, and does not inherit")
			}
			empty(t, g)
		})
	}
}

// A slot was handed to a caller whose context ends; before it can pass the slot on
// the gate is closed. Somebody has to inherit all the same.
func TestACallerThatGotItsSlotTooLateInherits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Waiters: 1, Patience: strict})
		s := take(t, g, Request{})
		ctx := newLateEnd(t)
		c := start(ctx, g, Request{})
		synctest.Wait()
		if s.Release() {
			t.Error("inherits an open gate")
		}
		<-ctx.asked
		if g.Close() {
			t.Error("inherits a slot in use")
		}
		close(ctx.answer)
		synctest.Wait()
		must(t, Granted, c)
		if !c.release(t) {
			t.Error("was the last, and does not inherit")
		}
		empty(t, g)
	})
}

// One slot, a few callers that come, wait, give up and leave, and one Close at any
// moment. What the gate guarded must have exactly one heir.
func TestExactlyOneInherits(t *testing.T) {
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	const callers = 3
	var (
		tickets = new(Tickets)
		gate    *Gate
		heirs   [callers + 1]int
		begin   [callers + 1]chan struct{}
		wg      sync.WaitGroup
		done    sync.WaitGroup
	)
	call := func(i int) bool {
		ctx := context.Background()
		if i == 0 {
			c, cancel := context.WithCancel(ctx)
			ctx = c
			go cancel()
		}
		s, v := gate.Acquire(ctx, &Request{Inherits: true})
		return v == Granted && s.Release()
	}
	for i := range begin {
		begin[i] = make(chan struct{}, 1)
		done.Go(func() {
			for range begin[i] {
				if i == callers && gate.Close() || i < callers && call(i) {
					heirs[i]++
				}
				wg.Done()
			}
		})
	}
	patience := []time.Duration{strict, patient, 0}
	for r := range rounds {
		gate = New(Config{Slots: 1, Queue: r / 3 % 2, Waiters: 2, Patience: patience[r%3], Tickets: tickets})
		clear(heirs[:])
		wg.Add(len(begin))
		for _, b := range begin {
			b <- struct{}{}
		}
		wg.Wait()
		sum := 0
		for _, n := range heirs {
			sum += n
		}
		if sum != 1 {
			t.Fatalf("round %d: heirs %v (the last is Close), want one", r, heirs)
		}
	}
	for _, b := range begin {
		close(b)
	}
	done.Wait()
}

// A caller that does not inherit, and whose context has ended by the time that a closed
// gate lets it in, never starts: it gives its slot back, and the next one runs.
func TestADeadCallerOfAClosedGateDoesNotStart(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 2, Patience: patience})
		runner := take(t, g, Request{})
		_, _, dying := g.Line(&Request{})
		next := come(t, g, Request{})
		g.Close()
		runner.Release() // calls or serves the dying one, which has not gone to sleep yet
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, v := g.Wait(ctx, dying); v != Ended {
			t.Errorf("slot %v, verdict %d, want none", s, v)
		}
		synctest.Wait()
		next.release(t)
		if s := g.Stats(); s.Started != 2 || s.Completed != 2 || s.Dropped != 1 {
			t.Errorf("%+v", s)
		}
		empty(t, g)
	})
}
