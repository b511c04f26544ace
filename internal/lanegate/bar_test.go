package lanegate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestABarSendsAwayWhoWaitsAndWhoWouldHaveTo(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 2, Waiters: 2, Patience: patience})
		runner := come(t, g, Request{})
		duty := come(t, g, Request{Must: true})
		line := comeAll(t, g, 3, Request{})
		urgent := comeAll(t, g, 3, Request{Urgent: true})
		g.Bar(false)
		synctest.Wait()
		must(t, Hopeless, line...)
		must(t, 0, append(urgent, duty)...)
		must(t, Hopeless, come(t, g, Request{}), come(t, g, Request{NoWait: true}), come(t, g, Request{FailFast: true}))
		late := come(t, g, Request{Must: true})
		atRest(t, g)
		g.Bar(true)
		synctest.Wait()
		must(t, Hopeless, append(urgent, come(t, g, Request{Urgent: true}))...)
		s := g.Stats()
		if s.Dropped != 1+2 || s.Refused[Hopeless] != 2+3+1+1 || s.Promoted != 0 || s.Queued != 2 || s.Waiting != 0 || came(s) != 1+2+3+3+3+1 {
			t.Errorf("%+v", s)
		}
		g.Unbar()
		again := come(t, g, Request{})
		serve(t, runner, duty, late, again)
		empty(t, g)
	})
}

// A slot that is free is given to whoever comes, bar or not.
func TestABarKeepsNobodyFromAFreeSlot(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 2, Reserved: 1, Queue: 2, Patience: patience})
		g.Bar(true)
		runner := come(t, g, Request{})
		must(t, Hopeless, come(t, g, Request{}))
		urgent := come(t, g, Request{Urgent: true})
		releaseAll(t, runner, urgent)
		releaseAll(t, come(t, g, Request{}))
		g.Unbar()
		empty(t, g)
	})
}

// Whoever is refused without the mutex would be told that the queue is full, which is
// true without a queue, but not all.
func TestABarIsSeenByThoseWhoAreRefusedWithoutTheMutex(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Patience: patience, FailFast: true})
		runner := come(t, g, Request{})
		must(t, Full, come(t, g, g.Plain()))
		g.Bar(false)
		must(t, Hopeless, come(t, g, g.Plain()))
		if g.Reject() {
			t.Error("refused as one who finds the queue full")
		}
		g.Unbar()
		must(t, Full, come(t, g, g.Plain()))
		runner.release(t)
		empty(t, g)
	})
}

// One who was roused for a slot is sent away before he has come: the slot goes to the
// next, and his token is the only one.
func TestABarMeetsOneWhoIsOnHisWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		k := standIn(t, g, Request{})
		next, duty := come(t, g, Request{Urgent: true}), standIn(t, g, Request{Must: true})
		s.Release() // the urgent one first, who takes the slot
		synctest.Wait()
		must(t, Granted, next)
		next.release(t)
		if !inFlight(g) {
			t.Fatal("not roused")
		}
		g.Bar(true)
		if _, v := arrive(g, k); v != Hopeless || hasToken(k) {
			t.Errorf("verdict %d", v)
		}
		s, v := arrive(g, duty)
		if v != Granted {
			t.Errorf("verdict %d", v)
		}
		s.Release()
		g.Unbar()
		empty(t, g)
	})
}

// One whose context ends when he is sent away already takes his token, and is sent away.
func TestABarMeetsOneWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		k := standIn(t, g, Request{})
		g.Bar(false)
		if _, v := giveUp(g, k, Ended); v != Hopeless || hasToken(k) {
			t.Errorf("verdict %d", v)
		}
		s.Release()
		g.Unbar()
		empty(t, g)
	})
}

// The one who was on his way to the last slot of a closed gate cannot report that he was
// the last, when he is sent away; so whoever does that does.
func TestABarThatSendsTheLastOneOutOfAClosedGateSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		k := standIn(t, g, Request{})
		if g.Close() || s.Release() {
			t.Error("one is in line")
		}
		d := drain(t, g)
		if !g.Bar(true) {
			t.Error("was the last")
		}
		synctest.Wait()
		mustDrain(t, true, d)
		if _, v := arrive(g, k); v != Hopeless {
			t.Errorf("verdict %d", v)
		}
		if !g.Drain(context.Background()) {
			t.Error("not drained")
		}
	})
}
