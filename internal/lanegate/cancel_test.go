package lanegate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/internal/signal"
)

func TestACancelledWaiterLeavesAtOnceAndFreesItsPlace(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: patience})
		runner := come(t, g, Request{})
		queued, roomed := come(t, g, Request{}), come(t, g, Request{})
		began := time.Now()
		roomed.leave()
		must(t, Ended, roomed)
		roomed = come(t, g, Request{})
		queued.leave()
		must(t, Ended, queued)
		last := come(t, g, Request{})
		must(t, 0, roomed, last)
		if time.Since(began) != 0 {
			t.Error("it took time")
		}
		s := g.Stats()
		if s.Dropped != 1 || s.Refused[Ended] != 1 || s.Promoted != 1 {
			t.Errorf("dropped %d, ended %d, promoted %d, want 1 each", s.Dropped, s.Refused[Ended], s.Promoted)
		}
		serve(t, runner, roomed, last)
		empty(t, g)
	})
}

func TestAWaiterWhoseContextHasEndedBeforeNeverRuns(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 1, Patience: patience})
		runner := come(t, g, Request{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := start(ctx, g, Request{})
		synctest.Wait()
		must(t, Ended, c)
		runner.release(t)
		empty(t, g)
	})
}

// The context ends first, and the waiter is woken by that; but before it can leave
// the line a slot is handed to it.
func TestAGrantThatMeetsACancelledWaiterIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: strict})
		s := take(t, g, Request{})
		dead, next := come(t, g, Request{}), come(t, g, Request{})
		g.mu.Lock()
		dead.cancel() // it wakes up and comes to the mutex
		wake(g.handOver(s.shard))
		synctest.Wait()
		must(t, Ended, dead)
		must(t, Granted, next)
		next.release(t)
		started(t, g, 2)
		empty(t, g)
	})
}

// The slot is handed over first, and the waiter is woken by that; but its context
// ends before it returns.
func TestACancellationThatMeetsAGrantPassesItOn(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patience})
		s := take(t, g, Request{})
		ctx := newLateEnd(t)
		dead := start(ctx, g, Request{})
		synctest.Wait()
		next := come(t, g, Request{})
		s.Release()
		<-ctx.asked
		must(t, 0, next)
		close(ctx.answer)
		synctest.Wait()
		must(t, Ended, dead)
		must(t, Granted, next)
		next.release(t)
		started(t, g, 2)
		empty(t, g)
	})
}

// A free slot waits for a waiter that was roused for it and is cancelled on its
// way: the next one is roused.
func TestACancelledWaiterPassesItsWakeUpOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		dead := standIn(t, g, Request{})
		next := come(t, g, Request{})
		s.Release()
		must(t, 0, next)
		if _, v := giveUp(g, dead, Ended); v != Ended {
			t.Errorf("verdict %d", v)
		}
		synctest.Wait()
		must(t, Granted, next)
		if hasToken(dead) {
			t.Error("its ticket goes back with a token")
		}
		next.release(t)
		started(t, g, 2)
		empty(t, g)
	})
}

// started checks the number of calls that ran; one more got a slot too late.
func started(t *testing.T, g *Gate, want uint64) {
	t.Helper()
	if s := g.Stats(); s.Started != want || s.Completed != want || s.Dropped != 1 {
		t.Errorf("started %d, completed %d, dropped %d, want %d, %d and 1", s.Started, s.Completed, s.Dropped, want, want)
	}
}

func TestNothingIsGrantedToADeadWaiter(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 2, Queue: 9, Waiters: 9, Patience: patience})
		runners := comeAll(t, g, 2, Request{})
		line := comeAll(t, g, 18, Request{})
		for i, c := range line {
			if i%3 != 1 {
				c.leave()
			}
		}
		// The slots go round the living; each release starts exactly one.
		for i := 1; i < len(line); i += 3 {
			must(t, 0, line[i])
			runners[0].release(t)
			must(t, Granted, line[i])
			runners = append(runners[1:], line[i])
		}
		releaseAll(t, runners...)
		empty(t, g)
	})
}

// Tickets are used again at once, so a token left in one would wake a caller that
// it does not concern.
func TestTicketsGoBackWithoutAToken(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patience})
		for range 50 {
			runner := come(t, g, Request{})
			a, b := come(t, g, Request{}), come(t, g, Request{})
			// Which of the two ends of its sleep a sees is left to chance.
			a.cancel()
			runner.slot.Release()
			synctest.Wait()
			if a.got() == Granted {
				a.release(t)
			}
			b.release(t)
		}
		for range 50 {
			if hasToken(g.tickets.get()) {
				t.Fatal("a cached ticket has a token")
			}
		}
		empty(t, g)
	})
}

// hasToken reports whether there is a token, and takes it. Sleep chooses between
// two ends by chance.
func hasToken(k *Ticket) bool {
	done := make(chan struct{})
	close(done)
	for range 64 {
		if k.Sleep(done, nil) == signal.Woken {
			return true
		}
	}
	return false
}
