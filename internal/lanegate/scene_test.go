package lanegate

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The deterministic tests run in synctest bubbles. Two kinds of actors appear in
// them: callers, which are goroutines in Acquire and are where the test wants them
// once synctest.Wait has returned; and parts that the test itself plays with the
// functions of the package (standIn, unlookedRelease), which stop between any two
// steps of the protocol for as long as the test likes.

const (
	strict  = time.Duration(-1)
	patient = time.Hour // nobody starves in a test that does not sleep
)

// both runs a law that does not depend on patience in strict order and in patient.
func both(t *testing.T, law func(t *testing.T, patience time.Duration)) {
	t.Run("strict", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { law(t, strict) })
	})
	t.Run("patient", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { law(t, patient) })
	})
}

// newGate returns a gate with tickets of its own: their channels belong to one
// bubble.
func newGate(c Config) *Gate {
	c.Tickets = new(Tickets)
	return New(c)
}

// newGroup returns n gates that lend one another slots.
func newGroup(n int, c Config) []*Gate {
	gs := make([]*Gate, n)
	for i := range gs {
		gs[i] = newGate(c)
	}
	Join(gs)
	return gs
}

// caller is one call of Acquire.
type caller struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed by its goroutine when Acquire has returned
	slot    Slot
	verdict Verdict
}

// got is the verdict, 0 while there is none.
func (c *caller) got() Verdict {
	select {
	case <-c.done:
		return c.verdict
	default:
		return 0
	}
}

// come starts a caller and waits until it runs, stands in line or is refused.
func come(t *testing.T, g *Gate, r Request) *caller {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := start(ctx, g, r)
	c.cancel = cancel
	synctest.Wait()
	return c
}

// comeAll starts callers one after the other.
func comeAll(t *testing.T, g *Gate, n int, r Request) []*caller {
	t.Helper()
	cs := make([]*caller, n)
	for i := range cs {
		cs[i] = come(t, g, r)
	}
	return cs
}

// start starts a caller and does not wait for it.
func start(ctx context.Context, g *Gate, r Request) *caller {
	c := &caller{done: make(chan struct{})}
	r.Inherits = true
	go func() {
		defer close(c.done)
		c.slot, c.verdict = g.Acquire(ctx, &r)
	}()
	return c
}

// release gives the caller's slot back and waits until that has had its effect.
func (c *caller) release(t *testing.T) (last bool) {
	t.Helper()
	must(t, Granted, c)
	last = c.slot.Release()
	synctest.Wait()
	return last
}

// releaseAll gives the slots back one after the other.
func releaseAll(t *testing.T, cs ...*caller) {
	t.Helper()
	for _, c := range cs {
		c.release(t)
	}
}

// leave ends the caller's context and waits until that has had its effect.
func (c *caller) leave() {
	c.cancel()
	synctest.Wait()
}

// must checks what has become of each caller; 0 is that it still waits.
func must(t *testing.T, want Verdict, cs ...*caller) {
	t.Helper()
	for i, c := range cs {
		if v := c.got(); v != want {
			t.Fatalf("caller %d of %d: verdict %d, want %d", i, len(cs), v, want)
		}
	}
}

// serve lets the runner finish, and then each that runs next. They must start in
// the given order and one at a time.
func serve(t *testing.T, runner *caller, order ...*caller) {
	t.Helper()
	for i, c := range order {
		must(t, 0, order[i:]...)
		runner.release(t)
		must(t, Granted, c)
		runner = c
	}
	runner.release(t)
}

// take takes a slot that must be free.
func take(t *testing.T, g *Gate, r Request) Slot {
	t.Helper()
	s, v := g.Acquire(t.Context(), &r)
	if v != Granted {
		t.Fatalf("verdict %d, want a slot", v)
	}
	return s
}

// standIn puts a ticket into the line: a caller that has not gone to sleep yet, or
// was woken and has not come yet. The test plays that caller.
func standIn(t *testing.T, g *Gate, r Request) *Ticket {
	t.Helper()
	k := g.tickets.get()
	r.Inherits = true
	if _, v := g.enter(k, &r); v != 0 {
		t.Fatalf("verdict %d, want a place in the line", v)
	}
	return k
}

// arrive is the stand-in woken by a token.
func arrive(g *Gate, k *Ticket) (Slot, Verdict) {
	k.Take()
	return g.look(context.Background(), k)
}

// giveUp is the stand-in woken by something else.
func giveUp(g *Gate, k *Ticket, why Verdict) (Slot, Verdict) {
	return g.quit(context.Background(), k, why)
}

// unlookedRelease is the first half of a Release that looked at the flags when
// none was up. The second half is [Gate.freed].
func unlookedRelease(s Slot) { s.gate.shards[s.shard].word.Add(^uint64(0)) }

// lateEnd is a context that has ended, but whose Err does not answer before the
// test has done what is to happen in between. Its Done never fires, so a waiter
// with this context is woken by a grant and nothing else.
type lateEnd struct {
	context.Context
	asked  chan struct{}
	answer chan struct{}
	once   atomic.Bool
}

func newLateEnd(t *testing.T) *lateEnd {
	return &lateEnd{Context: t.Context(), asked: make(chan struct{}), answer: make(chan struct{})}
}

func (c *lateEnd) Done() <-chan struct{} { return nil }

func (c *lateEnd) Err() error {
	if c.once.CompareAndSwap(false, true) {
		close(c.asked)
		<-c.answer
	}
	return context.Canceled
}

func inFlight(g *Gate) bool { return g.flags.Load()&flight != 0 }

// wake is what follows a handOver.
func wake(t *Ticket, last bool) (wasLast bool) {
	t.wake()
	return last
}

// often is how many times a test repeats what it is about: few, or many in a long run.
func often(few, many int) int {
	if os.Getenv("IOLANE_STRESS") == "1" {
		return many
	}
	return few
}
