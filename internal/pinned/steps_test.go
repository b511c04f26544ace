package pinned

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// The interleaving test plays callers and threads in random order, one critical
// section at a time, on the real Threads without their goroutines. Only the sleepers
// are goroutines, so that a wake-up that is lost, or comes twice, shows. After each
// step the laws are looked at; in the end everybody must have got an answer.

type caller struct {
	j       *Job
	ran     []int // how often each task has run
	refused bool
	left    bool // withdrew
	over    bool
}

// actor is one thread, between two critical sections.
type actor struct {
	t    *Thread
	next func(*steps, *actor) // nil: sleeps, or has ended
}

type steps struct {
	*testing.T
	*Threads
	r       *rand.Rand
	callers []*caller
	actors  []*actor
	failing bool // no more starts succeed
}

func newSteps(t *testing.T, seed uint64) *steps {
	r := rand.New(rand.NewPCG(seed, 0))
	core, err := newThreads(Config{Threads: 1 + r.IntN(3), Keep: r.IntN(3)})
	if err != nil {
		t.Fatal(err)
	}
	s := &steps{T: t, Threads: core, r: r}
	s.spawn = func(t *Thread) { s.actors = append(s.actors, &actor{t, (*steps).begin}) }
	s.mu.Lock()
	for i := range s.seats {
		s.fill(i, nil)
	}
	s.mu.Unlock()
	return s
}

// sleep lets f, which waits for a token, be a goroutine, and goes on when it has it.
func (s *steps) sleep(p signal.Parker, then func()) {
	go func() { p.Take(); then() }()
}

func (s *steps) begin(a *actor) {
	if s.r.IntN(6) == 0 || s.failing {
		s.started(a.t, errHook)
		a.next = (*steps).vacates
		return
	}
	s.started(a.t, nil)
	a.next = (*steps).looks
}

func (s *steps) looks(a *actor) {
	j, sleep := s.look(a.t)
	switch {
	case sleep:
		a.next = nil
		s.sleep(a.t.Parker, func() { a.next = (*steps).looks })
	case j == nil:
		a.next = (*steps).vacates
	default:
		a.t.job = j
		a.next = (*steps).runs
	}
}

func (s *steps) runs(a *actor) {
	switch {
	case a.t.run(a.t.job):
		a.next = (*steps).looks
	default:
		if s.r.IntN(2) == 0 { // as if by Goexit
			a.t.job.fail(&ExitError{a.t.job.at - 1})
		}
		a.next = func(s *steps, a *actor) { s.retire(a.t); a.next = (*steps).vacates }
	}
}

func (s *steps) vacates(a *actor) {
	a.next = (*steps).ends
	if s.vacate(a.t) {
		a.next = nil
		s.sleep(a.t.Parker, func() {
			a.next = func(s *steps, a *actor) {
				s.mu.Lock()
				s.become(a.t, leaving)
				s.mu.Unlock()
				a.next = (*steps).ends
			}
		})
	}
}

func (s *steps) ends(a *actor) {
	s.end(a.t)
	a.next = nil
}

// comes is a new caller.
func (s *steps) comes() {
	c := &caller{j: &Job{Parker: signal.NewParker(), inside: s.r.IntN(4) == 0}, ran: make([]int, 1+s.r.IntN(3))}
	for i := range c.ran {
		c.j.tasks = append(c.j.tasks, Func(func(t *Thread) {
			if t.tainted {
				s.Error("runs on a tainted thread")
			}
			c.ran[i]++
			if s.r.IntN(4) == 0 {
				t.Taint()
			}
		}))
	}
	s.callers = append(s.callers, c)
	if err := s.enqueue(c.j); err != nil {
		c.refused = true
		if err != ioerr.ErrShutdown || !s.closing {
			s.Error(err)
		}
		return
	}
	s.sleep(c.j.Parker, func() { c.over = true })
}

// leaves is a caller whose context ends.
func (s *steps) leaves() {
	c := s.callers[s.r.IntN(len(s.callers))]
	if !c.over && !c.refused && !c.left && s.withdraw(c.j) {
		c.left = true
		c.j.Wake() // for its goroutine here; a true caller is awake
	}
}

// step lets somebody act who can; false if nobody can.
func (s *steps) step() bool {
	synctest.Wait()
	lawful(s, s.Threads)
	var ready []*actor
	for _, a := range s.actors {
		if a.next != nil {
			ready = append(ready, a)
		}
	}
	if len(ready) == 0 {
		return false
	}
	a := ready[s.r.IntN(len(ready))]
	a.next(s, a)
	return true
}

// settled checks the answers that the callers have got.
func (s *steps) settled() {
	for i, c := range s.callers {
		if !c.over && !c.refused {
			s.Fatalf("caller %d of %d waits for ever", i, len(s.callers))
		}
		for k, n := range c.ran {
			want := 0
			if k < c.j.at {
				want = 1
			}
			if n != want {
				s.Fatalf("task %d of caller %d ran %d times, it says %d of them", k, i, n, c.j.at)
			}
		}
		_, lost := errors.AsType[*ioerr.StartError](c.j.why)
		lost = lost || c.j.inside && errors.Is(c.j.why, ioerr.ErrReentry)
		if full := c.j.at == len(c.ran); !full && !lost && !c.left && !c.refused || full && (lost || c.left || c.refused) {
			s.Fatalf("caller %d: %d of %d have run: %v", i, c.j.at, len(c.ran), c.j.why)
		}
	}
}

func TestStepsInAnyOrder(t *testing.T) {
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 300
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			s := newSteps(t, seed)
			for range 20 + s.r.IntN(60) {
				synctest.Wait() // what was woken notes it first
				switch n := s.r.IntN(20); {
				case n < 5:
					s.comes()
				case n == 5 && len(s.callers) > 0:
					s.leaves()
				case n == 6:
					s.failing = !s.failing
				case n == 7 && s.r.IntN(4) == 0:
					s.shut()
				default:
					s.step()
				}
			}
			for s.step() {
			}
			s.settled()
			s.shut()
			for s.step() {
			}
			s.settled()
			if err := s.Close(context.Background()); err != nil || s.live != 0 || s.line.n != 0 || s.vacant != len(s.seats) {
				t.Fatalf("after Close: %v, %+v", err, s.Stats())
			}
		})
		if t.Failed() {
			return
		}
	}
}
