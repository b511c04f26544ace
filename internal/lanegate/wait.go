package lanegate

import (
	"context"
	"time"

	"github.com/iolane/iolane/internal/signal"
)

// Wait is the half of Acquire that waits, for a caller that stands in line: until the
// ticket is settled, or taken out of the line again. After it the ticket is the gate's.
func (g *Gate) Wait(ctx context.Context, t *Ticket) (s Slot, v Verdict) {
	expired, done := g.deadline(t), DoneOf(ctx)
	for v == 0 {
		switch t.Sleep(done, expired) {
		case signal.Woken:
			s, v = g.look(ctx, t)
		case signal.Expired:
			s, v = g.quit(ctx, t, Expired)
			expired = nil // without a verdict it was accepted before: the deadline is forgotten
		case signal.Done:
			s, v = g.quit(ctx, t, Ended)
		}
	}
	g.tickets.put(t)
	return s, v
}

// HasEnded reports whether a context has ended, or panics when it is asked: what its
// caller has in a line is given up then, before the panic is his.
func HasEnded(ctx context.Context) (ended bool) {
	defer func() {
		if recover() != nil {
			ended = true
		}
	}()
	return ctx.Err() != nil
}

// DoneOf is the channel of a context; of one that panics it is closed.
func DoneOf(ctx context.Context) (done <-chan struct{}) {
	defer func() {
		if recover() != nil {
			closed := make(chan struct{})
			close(closed)
			done = closed
		}
	}()
	return ctx.Done()
}

// deadline starts the timer of a ticket that has a deadline for its acceptance.
func (g *Gate) deadline(t *Ticket) <-chan time.Time {
	if t.expire.IsZero() || g.accepted(t) {
		return nil
	}
	t.timer = time.NewTimer(time.Until(t.expire))
	return t.timer.C
}

// receive is the end of the wait of a settled caller, which has taken its token. A
// slot that was handed to it too late it passes on.
func (g *Gate) receive(ctx context.Context, t *Ticket) (Slot, Verdict) {
	v := Verdict(t.state.Load())
	if v == Granted {
		if HasEnded(ctx) && t.slot.passOn(t.inherits) {
			return Slot{}, Ended
		}
		g.arriving.Add(-1)
	}
	return t.slot, v
}

func (g *Gate) accepted(t *Ticket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return t.list != &g.lines[index(t.urgent)].room
}

// look is what a caller does that has taken a token: it was settled, or roused to try
// for a free slot. Without a verdict it stays in its place and goes back to sleep.
func (g *Gate) look(ctx context.Context, t *Ticket) (Slot, Verdict) {
	if t.state.Load() != 0 {
		return g.receive(ctx, t)
	}
	if HasEnded(ctx) && !(t.inherits && g.Closed()) { // as if it had seen that first
		t.Wake()
		return g.quit(ctx, t, Ended)
	}
	g.mu.Lock()
	if t.state.Load() != 0 { // settled while it was on its way
		g.mu.Unlock()
		return g.receive(ctx, t)
	}
	now := g.patient.now()
	g.land(t)
	s, ok := g.claim(true, t.urgent, true)
	if ok {
		if s.shard < s.gate.normal {
			g.favoured = t.urgent && g.lines[0].head() != nil
		}
		g.remove(t, now)
	} else {
		g.lost(t, now)
	}
	next := g.rouseFree()
	g.unlock()
	next.wake()
	if !ok {
		return Slot{}, 0
	}
	return s, Granted
}

// quit takes the ticket of a caller that waits no longer out of the line. If the
// ticket was settled first, that counts. Without a verdict the caller has to go on
// waiting.
func (g *Gate) quit(ctx context.Context, t *Ticket, why Verdict) (Slot, Verdict) {
	g.mu.Lock()
	if t.state.Load() != 0 {
		g.mu.Unlock()
		t.Take()
		return g.receive(ctx, t)
	}
	inRoom := t.list == &g.lines[index(t.urgent)].room
	if why == Expired && !inRoom {
		g.mu.Unlock()
		return Slot{}, 0
	}
	if t.rousing && t.inherits && g.state != open {
		// Perhaps the last one out of a closed gate, and only a Release reports
		// that: so it takes its slot, if it is still there.
		g.mu.Unlock()
		t.Take()
		return g.look(ctx, t)
	}
	if inRoom {
		g.counts.refused[why]++
	} else {
		g.counts.dropped++
	}
	roused := t.rousing
	g.remove(t, g.patient.now())
	var next *Ticket
	if roused {
		g.land(t)
		next = g.rouseFree()
	}
	g.unlock()
	next.wake()
	if roused {
		t.Take()
	}
	return Slot{}, why
}
