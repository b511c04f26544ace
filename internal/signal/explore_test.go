package signal_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// explore runs a model once for every order in which its actors can take their
// steps, each time in a bubble of its own, and returns the number of orders. It
// ends early when an order fails.
//
// An actor is a goroutine that asks for leave before each step; between two
// steps everybody has come to rest. One actor moves at a time, so it is the
// places of the steps that are explored, not the memory model: that is left to
// the race detector and the tests that really race.
func explore(t *testing.T, model func(*schedule)) (orders int) {
	t.Helper()
	var path []choice
	for {
		s := &schedule{path: path}
		synctest.Test(t, func(t *testing.T) {
			s.t = t
			model(s)
			s.run()
		})
		orders++
		if path = s.next(); path == nil || t.Failed() {
			return orders
		}
	}
}

// schedule is one order of steps.
type schedule struct {
	t      *testing.T
	actors []*actor
	path   []choice // what to choose, and from its end on what was chosen
	chosen int
	trace  []string

	rescue func()           // ends every sleep of a model that got stuck
	check  func(*testing.T) // called when all actors have finished
}

type choice struct{ taken, of int }

// actor is what one goroutine of a model holds.
type actor struct {
	s        *schedule
	name     string
	leave    chan struct{}
	next     string // the step it asks leave for; empty if it sleeps or runs
	finished bool
}

// actor adds a goroutine to the model.
func (s *schedule) actor(name string, run func(*actor)) {
	s.actors = append(s.actors, &actor{s: s, name: name, leave: make(chan struct{})})
	a := s.actors[len(s.actors)-1]
	go func() {
		defer func() {
			if v := recover(); v != nil {
				s.t.Errorf("%s panicked: %v\n%s", a.name, v, s)
			}
			a.finished = true
		}()
		run(a)
	}()
}

// step waits for leave to take the named step.
func (a *actor) step(name string) {
	a.next = name
	<-a.leave
	a.next = ""
}

// choose is one of n ways on, each of which some order takes. To be called in a
// step.
func (s *schedule) choose(n int) int {
	if s.chosen == len(s.path) {
		s.path = append(s.path, choice{0, n})
	}
	c := s.path[s.chosen]
	if c.of != n {
		panic(fmt.Sprintf("the model is not deterministic: %d ways where there were %d\n%s", n, c.of, s))
	}
	s.chosen++
	return c.taken
}

// next is the path of the following order, nil after the last.
func (s *schedule) next() []choice {
	for i := s.chosen - 1; i >= 0; i-- {
		if c := s.path[i]; c.taken+1 < c.of {
			return append(s.path[:i:i], choice{c.taken + 1, c.of})
		}
	}
	return nil
}

func (s *schedule) run() {
	for {
		synctest.Wait()
		var ready []*actor
		for _, a := range s.actors {
			if a.next != "" {
				ready = append(ready, a)
			}
		}
		if len(ready) == 0 {
			break
		}
		a := ready[s.choose(len(ready))]
		s.trace = append(s.trace, a.name+": "+a.next)
		a.leave <- struct{}{}
	}
	stuck := false
	for _, a := range s.actors {
		if !a.finished {
			s.t.Errorf("%s sleeps for ever\n%s", a.name, s)
			stuck = true
		}
	}
	if stuck {
		s.rescue()
		return
	}
	if !s.t.Failed() {
		s.check(s.t)
	}
	if s.t.Failed() {
		s.t.Logf("%s", s)
	}
}

func (s *schedule) String() string {
	return "after " + strings.Join(s.trace, "; ")
}

// Two actors of two steps have six orders, and explore finds each once.
func TestExploreTakesEveryOrderOnce(t *testing.T) {
	seen := map[string]bool{}
	orders := explore(t, func(s *schedule) {
		for _, name := range []string{"a", "b"} {
			s.actor(name, func(a *actor) {
				a.step("1")
				a.step("2")
			})
		}
		s.check = func(*testing.T) { seen[s.String()] = true }
	})
	if orders != 6 || len(seen) != 6 {
		t.Errorf("%d orders, %d of them different, want 6", orders, len(seen))
	}
}
