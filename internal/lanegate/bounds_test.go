package lanegate

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheBoundsOfTheLineAreExact(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		for _, queue := range []int{0, 1, 3} {
			for _, waiters := range []int{0, 1, 3} {
				for _, urgent := range []bool{false, true} {
					g := newGate(Config{Slots: 2, Queue: queue, Waiters: waiters, Patience: patience})
					r := Request{Urgent: urgent}
					runners := comeAll(t, g, 2, r)
					must(t, Granted, runners...)
					accepted := comeAll(t, g, queue, r)
					must(t, Full, come(t, g, Request{Urgent: urgent, FailFast: true}))
					roomed := comeAll(t, g, waiters, r)
					must(t, 0, append(accepted, roomed...)...)
					must(t, Overloaded, come(t, g, r))
					if s := g.Stats(); s.Queued != queue || s.Waiting != waiters {
						t.Errorf("queue %d, waiters %d: %d and %d wait", queue, waiters, s.Queued, s.Waiting)
					}
					atRest(t, g)

					line := slices.Concat(accepted, roomed)
					for i, c := range line {
						runners[i%2].release(t)
						runners[i%2] = c
					}
					releaseAll(t, runners...)
					empty(t, g)
				}
			}
		}
	})
}

func TestEachClassHasALineOfItsOwn(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: patience})
		runner := come(t, g, Request{})
		normal := comeAll(t, g, 2, Request{})
		urgent := comeAll(t, g, 2, Request{Urgent: true})
		must(t, Overloaded, come(t, g, Request{}), come(t, g, Request{Urgent: true}))
		serve(t, runner, urgent[0], normal[0], urgent[1], normal[1])
		empty(t, g)
	})
}

func TestEachPlaceThatBecomesFreeIsFilledOnce(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 2, Waiters: 1, Patience: patience})
		runner := come(t, g, Request{})
		c := comeAll(t, g, 3, Request{})
		for range 5 {
			must(t, Overloaded, come(t, g, Request{}))
			c[0].leave()
			c = append(c[1:], come(t, g, Request{}))
			must(t, 0, c...)
		}
		if n := g.Stats().Promoted; n != 5 {
			t.Errorf("%d promoted, want 5", n)
		}
		serve(t, runner, c...)
		empty(t, g)
	})
}

func TestFailFastWaitsForASlotButNotForAPlace(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: patience})
		runner := come(t, g, Request{FailFast: true})
		queued := come(t, g, Request{FailFast: true})
		must(t, 0, queued)
		must(t, Full, come(t, g, Request{FailFast: true}))
		serve(t, runner, queued)
		empty(t, g)
	})
}

func TestNoWaitTakesASlotOrNothing(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: patience})
		runner := come(t, g, Request{NoWait: true})
		must(t, Granted, runner)
		must(t, Busy, come(t, g, Request{NoWait: true}))
		runner.release(t)
		empty(t, g)
	})
}

func TestTheDeadlineBoundsAcceptanceOnly(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 3, Patience: patience})
		began := time.Now()
		r := Request{Expire: began.Add(10 * ms)}
		runner := come(t, g, r)
		accepted := come(t, g, r)
		promoted := come(t, g, r)
		roomed := come(t, g, r)
		time.Sleep(9 * ms)
		accepted.leave()
		time.Sleep(ms - 1)
		synctest.Wait()
		must(t, 0, promoted, roomed)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		must(t, Expired, roomed)
		must(t, 0, promoted)
		time.Sleep(time.Second)
		synctest.Wait()
		must(t, 0, promoted)
		serve(t, runner, promoted)
		empty(t, g)
	})
}

func TestAnExpiredDeadlineRefusesWhoWouldHaveToWaitForAcceptance(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: patience})
		r := Request{Expire: time.Now()}
		runner := come(t, g, r)
		must(t, Granted, runner)
		queued := come(t, g, r)
		must(t, 0, queued)
		must(t, Expired, come(t, g, r))
		must(t, Full, come(t, g, Request{Expire: r.Expire, FailFast: true}))
		roomed := come(t, g, Request{})
		must(t, Overloaded, come(t, g, r))
		serve(t, runner, queued, roomed)
		empty(t, g)
	})
}

// The timer fires when the ticket has been settled already, or promoted.
func TestAcceptanceBeatsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Waiters: 1, Patience: strict})
		s := take(t, g, Request{})
		k := standIn(t, g, Request{})
		s.Release()
		s, v := giveUp(g, k, Expired)
		if v != Granted {
			t.Fatalf("verdict %d after the slot was handed over", v)
		}
		s.Release()
		empty(t, g)

		g = newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: strict})
		s = take(t, g, Request{})
		first, second := standIn(t, g, Request{}), standIn(t, g, Request{})
		giveUp(g, first, Ended)
		if _, v := giveUp(g, second, Expired); v != 0 {
			t.Fatalf("verdict %d after it was promoted", v)
		}
		s.Release()
		s, _ = arrive(g, second)
		s.Release()
		empty(t, g)
	})
}
