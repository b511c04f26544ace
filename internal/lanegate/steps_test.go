package lanegate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The interleaving test plays all callers of a few gates on one goroutine, one step
// of the protocol at a time and in random order: a step is what happens between two
// points at which another processor may act. So it reaches in a second what a
// stress test may take years to come to, and says from which seed.

// actor is one caller.
type actor struct {
	gate *Gate
	Request
	next func(*steps, *actor) // its next step; nil: it waits, or has got its slot

	ticket  *Ticket
	slot    Slot
	began   int           // the step in which it looked who else is there
	at      time.Duration // the time then
	entered int           // the step in which it came into the line; 0: never
	state   actorState
}

type actorState uint8

const (
	coming actorState = iota
	waits
	runs
	leaves // its slot is not all given back
	gone
)

// steps is one run of the test.
type steps struct {
	*testing.T
	*choices
	gates   []*Gate
	config  Config
	actors  []*actor
	now     int // counts the steps
	start   time.Time
	resized map[*Gate]int // the step of its last Resize
	heirs   int
	ended   context.Context
}

func newSteps(t *testing.T, c *choices) *steps {
	s := &steps{T: t, choices: c, config: c.config(), start: time.Now(), resized: make(map[*Gate]int)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ended = ctx
	s.gates = newGroup(1+c.pick(3), s.config)
	if len(s.gates) == 1 {
		s.gates[0].group = nil
	}
	return s
}

// come is a newcomer's look at the flags.
func (s *steps) come() {
	a := &actor{gate: s.gates[s.pick(len(s.gates))], Request: Request{
		Urgent:   s.chance(3),
		FailFast: s.chance(8),
		NoWait:   s.chance(8),
		Must:     s.chance(8),
		Owner:    uint64(s.pick(2)),
		Inherits: true,
	}}
	s.look(a)
	a.next = (*steps).enter
	if a.gate.flags.Load()&a.gate.block == 0 {
		a.next = (*steps).claim
	}
	s.actors = append(s.actors, a)
}

func (s *steps) look(a *actor) { a.began, a.at = s.now, time.Since(s.start) }

func (s *steps) claim(a *actor) {
	if slot, ok := a.gate.claim(true, a.Urgent, false); ok {
		s.starts(a, slot)
		return
	}
	a.next = (*steps).enter
}

func (s *steps) enter(a *actor) {
	s.look(a)
	a.ticket = a.gate.tickets.get()
	slot, v := a.gate.enter(a.ticket, &a.Request)
	switch {
	case v == 0:
		a.state, a.next, a.entered = waits, nil, s.now
	case v == Granted:
		s.starts(a, slot)
	default:
		a.state, a.next = gone, nil
	}
}

// woken reports whether a waiter has a token to take.
func (a *actor) woken() bool {
	return a.state == waits && (a.ticket.rousing || a.ticket.state.Load() != 0)
}

// arrive is a waiter that takes its token; its context may have ended.
func (s *steps) arrive(a *actor) {
	a.ticket.Take()
	slot, v := a.gate.look(s.context(s.chance(4)), a.ticket)
	s.settle(a, slot, v)
}

// quit is the look of a waiter whose context has ended, or its deadline.
func (s *steps) quit(a *actor, why Verdict) {
	slot, v := a.gate.quit(s.context(why == Ended), a.ticket, why)
	s.settle(a, slot, v)
}

// context returns one that has ended, or not.
func (s *steps) context(ended bool) context.Context {
	if ended {
		return s.ended
	}
	return context.Background()
}

// settle is the end of one round of the wait.
func (s *steps) settle(a *actor, slot Slot, v Verdict) {
	if v == 0 {
		return
	}
	if hasToken(a.ticket) {
		s.Error("settled with a token left")
	}
	if v == Granted {
		s.starts(a, slot)
	} else {
		a.state, a.next = gone, nil
	}
	a.gate.tickets.put(a.ticket)
}

// release is the releaser's look at the flags.
func (s *steps) release(a *actor) {
	a.state = leaves
	a.next = func(s *steps, a *actor) {
		unlookedRelease(a.slot)
		a.next = func(s *steps, a *actor) {
			g := a.slot.gate
			a.next = func(s *steps, a *actor) { s.left(a, g.freed()) }
			if g.lets(g.flags.Load()) {
				a.next = func(s *steps, a *actor) {
					if g.group != nil {
						g.group.kick(g)
					}
					s.left(a, false)
				}
			}
		}
	}
	if g := a.slot.gate; !g.lets(g.flags.Load()) {
		a.next = func(s *steps, a *actor) {
			a.slot.gate.mu.Lock()
			s.left(a, wake(a.slot.gate.handOver(a.slot.shard)))
		}
	}
}

func (s *steps) left(a *actor, last bool) {
	a.state, a.next = gone, nil
	if last {
		s.heirs++
	}
}

// starts checks whether a may start now.
func (s *steps) starts(a *actor, slot Slot) {
	a.state, a.next, a.slot = runs, nil, slot
	g := slot.gate
	handed := a.ticket != nil && a.ticket.state.Load() != 0 // it may have started before a Resize
	if !handed && slot.shard < g.normal && g.inside() > g.slots && (a.entered > 0 || a.began > s.resized[g]) {
		s.Errorf("step %d: starts with %d inside and %d slots", s.now, g.inside(), g.slots)
	}
	if slot.shard == g.normal && (!a.Urgent || g != a.gate) {
		s.Errorf("step %d: has a reserved slot", s.now)
	}
	if g != a.gate && g.total > 0 {
		s.Errorf("step %d: borrows from a neighbour that has a line", s.now)
	}
	if a.Must || s.config.LIFO {
		return
	}
	for _, w := range s.actors {
		if w.state != waits || w.gate != a.gate || w.Urgent != a.Urgent || w.ticket.state.Load() != 0 || w.Must {
			continue
		}
		waited := a.at - time.Duration(w.ticket.since-g.patient.now()) - time.Since(s.start)
		switch {
		case a.entered > w.entered:
			s.Errorf("step %d: the one that came in step %d overtakes the one of step %d", s.now, a.entered, w.entered)
		case a.entered == 0 && a.began > w.entered && waited >= max(s.config.Patience, -1) && (waited > 0 || s.config.Patience != 0):
			s.Errorf("step %d: a newcomer of step %d overtakes one that has waited %v since step %d (%+v) flags %b %+v armed %v", s.now, a.began, waited, w.entered, a.Request, a.gate.flags.Load(), slot.shard, g.patient)
		}
	}
}

// step makes one random step.
func (s *steps) step() {
	s.now++
	g := s.gates[s.pick(len(s.gates))]
	switch op := s.pick(32); {
	case op < 9:
		s.come()
	case op == 9:
		reserved := s.config.Reserved
		s.resized[g] = s.now
		g.Resize(reserved + 1 + s.pick(4))
	case op == 10:
		g.Evict(uint64(s.pick(2)))
	case op == 11:
		time.Sleep(ms)
		synctest.Wait()
	case op == 12 && s.now > 150:
		if g.Close() {
			s.heirs++
		}
	case op == 13:
		if s.chance(2) {
			g.Unbar()
		} else if g.Bar(s.chance(2)) {
			s.heirs++
		}
	default:
		s.act()
	}
}

// act lets a random actor make its next step. It reports whether there was one.
func (s *steps) act() bool {
	for range 4 * len(s.actors) {
		if s.one(s.actors[s.pick(len(s.actors))], true) {
			return true
		}
	}
	for _, a := range s.actors {
		if s.one(a, false) {
			return true
		}
	}
	return false
}

// one is the next step of a; with free set it may also give up or leave.
func (s *steps) one(a *actor, free bool) bool {
	switch {
	case a.next != nil:
		a.next(s, a)
	case free && a.state == waits && s.chance(6):
		s.quit(a, []Verdict{Ended, Expired}[s.pick(2)])
	case a.woken():
		s.arrive(a)
	case free && a.state == runs:
		s.release(a)
	default:
		return false
	}
	return true
}

// rest lets everybody go on who can, and checks what must hold then.
func (s *steps) rest() {
	for i := 0; ; i++ {
		acted := false
		for _, a := range s.actors {
			acted = s.one(a, false) || acted
		}
		if !acted {
			break
		}
		if i > 10_000 {
			s.Fatal("no rest")
		}
	}
	alive := s.actors[:0]
	for _, a := range s.actors {
		if a.state != gone {
			alive = append(alive, a)
		}
	}
	s.actors = alive
	atRest(s.T, s.gates...)
}

// finish lets all callers of one gate go, in random order, and checks that nothing
// is left.
func (s *steps) finish() {
	for _, g := range s.gates {
		if g.Close() {
			s.heirs++
		}
	}
	for s.rest(); len(s.actors) > 0 && !s.Failed(); s.rest() {
		for _, a := range s.actors {
			if a.state == runs {
				s.release(a)
			}
		}
	}
	empty(s.T, s.gates...)
	if len(s.gates) == 1 && s.heirs != 1 {
		s.Errorf("%d have inherited", s.heirs)
	}
}

func runSteps(t *testing.T, c *choices) {
	s := newSteps(t, c)
	for len(c.left) > 0 && !t.Failed() {
		s.step()
		if c.chance(16) {
			s.rest()
		}
	}
	s.finish()
}

func TestNoInterleavingBreaksALaw(t *testing.T) {
	seeds(t, 1500, 1200, runSteps)
}
