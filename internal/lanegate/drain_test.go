package lanegate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// drainer is one call of Drain.
type drainer struct {
	cancel context.CancelFunc
	done   chan struct{}
	idle   bool
}

func drain(t *testing.T, g *Gate) *drainer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d := &drainer{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		d.idle = g.Drain(ctx)
	}()
	synctest.Wait()
	return d
}

func (d *drainer) returned() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

func mustDrain(t *testing.T, returned bool, ds ...*drainer) {
	t.Helper()
	for i, d := range ds {
		if d.returned() != returned || returned && !d.idle {
			t.Fatalf("drainer %d: returned %v, want %v", i, d.returned(), returned)
		}
	}
}

func TestDrainReturnsWhenTheLastOneIsOut(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 2, Queue: 9, Patience: patience})
		runners := comeAll(t, g, 2, Request{})
		queued := comeAll(t, g, 2, Request{})
		g.Close()
		ds := []*drainer{drain(t, g), drain(t, g), drain(t, g)}
		queued[0].leave()
		runners[0].release(t)
		must(t, Granted, queued[1])
		runners[1].release(t)
		mustDrain(t, false, ds...)
		queued[1].release(t)
		mustDrain(t, true, append(ds, drain(t, g))...)
		empty(t, g)
	})
}

func TestDrainReturnsWhenTheLastInLineLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient})
		s := take(t, g, Request{})
		first, second := standIn(t, g, Request{}), standIn(t, g, Request{})
		s.Release() // the first is on its way
		g.Close()
		d := drain(t, g)
		giveUp(g, second, Ended)
		synctest.Wait()
		mustDrain(t, false, d)
		s, _ = giveUp(g, first, Ended)
		s.Release()
		synctest.Wait()
		mustDrain(t, true, d)
		empty(t, g)
	})
}

func TestDrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Patience: patient})
		s := take(t, g, Request{})
		g.Close()
		leaves, stays := drain(t, g), drain(t, g)
		leaves.cancel()
		synctest.Wait()
		if !leaves.returned() || leaves.idle {
			t.Error("the one whose context ended has not returned false")
		}
		mustDrain(t, false, stays)
		s.Release()
		synctest.Wait()
		mustDrain(t, true, stays)
	})
}

// The context ends, but before its caller can come to the mutex the gate is idle.
func TestDrainThatSucceedsAtTheLastMomentSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Patience: patient})
		s := take(t, g, Request{})
		g.Close()
		d := drain(t, g)
		g.mu.Lock()
		d.cancel()
		wake(g.handOver(s.shard))
		synctest.Wait()
		mustDrain(t, true, d)
	})
}

func TestDrainWaitsForSlotsThatAreOwed(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 3, Patience: patience})
		cs := comeAll(t, g, 3, Request{})
		g.Resize(1)
		g.Close()
		d := drain(t, g)
		for i, c := range cs {
			mustDrain(t, false, d)
			if c.release(t) != (i == 2) {
				t.Errorf("release %d is wrong about being the last", i)
			}
		}
		mustDrain(t, true, d)
		empty(t, g)
	})
}

// The releaser saw no flag; the gate closes and drains; then the releaser looks.
func TestDrainHearsOfAReleaseThatBeganBeforeTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 2, Patience: patient})
		a, b := take(t, g, Request{}), take(t, g, Request{})
		g.Close()
		d := drain(t, g)
		a.Release()
		unlookedRelease(b)
		synctest.Wait()
		mustDrain(t, false, d)
		if !g.freed() {
			t.Error("was the last, and does not inherit")
		}
		synctest.Wait()
		mustDrain(t, true, d)
	})
}

func TestDrainReturnsAfterTheLastEdgeWasDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		edges := 0
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patient, OnEdge: func(Edge) { <-hold; edges++ }})
		runner, w := come(t, g, Request{}), come(t, g, Request{})
		g.Close()
		before := drain(t, g)
		serve(t, runner, w)
		after := drain(t, g)
		mustDrain(t, false, before, after)
		close(hold)
		synctest.Wait()
		mustDrain(t, true, before, after)
		if edges != 2 {
			t.Errorf("%d edges, want busy and idle", edges)
		}
	})
}

func TestDrainDoesNotTakeAnEvictedCallerForOneInside(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Waiters: 1, Patience: patience})
		runner := come(t, g, Request{})
		w := come(t, g, Request{})
		g.Close()
		synctest.Wait()
		must(t, Closed, w)
		d := drain(t, g)
		runner.release(t)
		mustDrain(t, true, d)
	})
}
