package lanegate

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The refusal without the mutex: a caller that fails fast is refused exactly when the
// queue is full and no slot is free, it is counted, and the gate's mutex is not needed.
func TestAFullGateRefusesWithoutItsMutex(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		for _, queue := range []int{0, 1} {
			g := newGate(Config{Slots: 2, Queue: queue, FailFast: true, Patience: patience})
			if g.Reject() {
				t.Fatal("refused although slots are free")
			}
			runners := comeAll(t, g, 2, Request{})
			if queue > 0 && g.Reject() {
				t.Fatal("refused although the queue has room")
			}
			queued := comeAll(t, g, queue, Request{})

			g.mu.Lock() // whoever needs it hangs, which the bubble reports
			if !g.Reject() {
				t.Error("not refused although everything is full")
			}
			c := start(t.Context(), g, Request{FailFast: true})
			synctest.Wait()
			g.mu.Unlock()
			must(t, Full, c)

			must(t, Busy, come(t, g, Request{FailFast: true, NoWait: true}))
			if n := g.Stats().Refused[Full]; n != 2 {
				t.Errorf("%d refusals counted, want 2", n)
			}
			runners[0].release(t)
			if queue == 0 {
				if g.Reject() {
					t.Error("refused although a slot is free")
				}
			} else {
				runners[0] = queued[0]
				if g.Reject() {
					t.Error("refused although the queue has room")
				}
			}
			if queue > 0 {
				releaseAll(t, runners...)
			} else {
				runners[1].release(t)
			}
			empty(t, g)
		}
	})
}

// Reject leaves to Acquire whatever has an answer of its own.
func TestRejectLeavesTheRestToAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Patience: patient})
		runner := come(t, g, Request{})
		if g.Reject() {
			t.Error("refused a caller that would wait")
		}
		runner.release(t)

		g = newGate(Config{Slots: 2, FailFast: true, Patience: patient})
		runners := comeAll(t, g, 2, Request{})
		g.Resize(1)
		if g.Reject() {
			t.Error("decided while slots are owed")
		}
		g.Close()
		if g.Reject() {
			t.Error("refused as full on a closed gate")
		}
		must(t, Closed, come(t, g, Request{FailFast: true}))
		releaseAll(t, runners...)
	})
}

// No caller is refused while a slot has been free all the time: callers that give
// their slot back before they come again never make more than there are slots.
func TestNobodyIsRefusedWhileThereIsRoom(t *testing.T) {
	const callers = 3
	g := newGate(Config{Slots: callers, FailFast: true, Patience: patient})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range 20_000 {
				s, ok := g.Try()
				if !ok {
					if g.Reject() {
						// Another caller may have had two slots in the course of one look.
						continue
					}
					var v Verdict
					if s, v = g.Acquire(context.Background(), &Request{FailFast: true}); v != Granted {
						continue
					}
				}
				s.Release()
			}
		})
	}
	wg.Wait()
	s := g.Stats()
	if s.Started+s.Refused[Full] != callers*20_000 {
		t.Errorf("%d started and %d refused of %d", s.Started, s.Refused[Full], callers*20_000)
	}
	empty(t, g)
}

// A roused caller that moves from the queue to a slot is never seen in both places: the
// second of two callers finds room.
func TestNobodyIsRefusedWhileTheQueueEmpties(t *testing.T) {
	g := newGate(Config{Slots: 1, Queue: 1, FailFast: true, Patience: patient})
	a := take(t, g, Request{})
	k := standIn(t, g, Request{})
	a.Release() // rouses
	if g.Reject() {
		t.Error("refused while the one on its way has not looked")
	}
	g.mu.Lock() // look, step by step
	g.land(k)
	s, ok := g.claim(true, false, true)
	if !ok || g.Reject() {
		t.Errorf("claimed %v, or the second of two callers was refused", ok)
	}
	g.remove(k, g.patient.now())
	g.unlock()
	k.Take()
	s.Release()
	empty(t, g)
}

// A gate that closes or shrinks meanwhile refuses nobody as full who would have found a
// slot before.
func TestRefusedAsFullOnlyByAFullGate(t *testing.T) {
	t.Run("close", func(t *testing.T) {
		tickets := new(Tickets)
		for i := range often(20_000, 300_000) {
			g := New(Config{Slots: 4, FailFast: true, Tickets: tickets})
			var ready sync.WaitGroup
			ready.Add(2)
			var wg sync.WaitGroup
			wg.Go(func() { ready.Done(); ready.Wait(); g.Close() })
			ready.Done()
			ready.Wait()
			if i%2 == 0 {
				if g.Reject() {
					t.Fatal("refused as full")
				}
			} else if _, v := g.Acquire(context.Background(), &Request{FailFast: true}); v == Full {
				t.Fatal("refused as full")
			}
			wg.Wait()
		}
	})
	t.Run("resize", func(t *testing.T) {
		g := New(Config{Slots: 8, FailFast: true, Tickets: new(Tickets)})
		over := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					g.Resize(7)
					g.Resize(8)
				}
			}
		})
		for range often(300_000, 10_000_000) {
			if g.Reject() {
				t.Error("refused as full")
				break
			}
			if s, v := g.Acquire(context.Background(), &Request{FailFast: true}); v == Granted {
				s.Release()
			} else if v == Full {
				t.Error("refused as full")
				break
			}
		}
		close(over)
		wg.Wait()
	})
}

// An owner that is evicted is never served, whoever else comes and goes.
func TestAnEvictedOwnerIsNeverServed(t *testing.T) {
	var c Tickets
	c.Evict(2)
	over := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					c.Evict(1)
					c.Forget(1)
				}
			}
		})
	}
	for range often(200_000, 5_000_000) {
		if c.serves(2) {
			t.Error("served")
			break
		}
	}
	close(over)
	wg.Wait()
}
