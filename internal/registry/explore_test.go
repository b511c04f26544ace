package registry_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// A script is what one actor does, step by step. No step blocks: whatever waits
// does so on a goroutine that the step starts.
type script []step

type step struct {
	name string
	do   func()
}

// explore calls a model once for every order in which the steps of its scripts
// can be taken, and for every choice of the moments at which the goroutines that
// were started or woken get to run: after a step, or not before some later one.
// It returns the number of runs, each of which has a bubble to itself.
//
// There is one processor, so a goroutine that was just woken stands still until
// the next such moment. What happens inside a step is not explored: that is left
// to the tests that really race.
func explore(t *testing.T, model func(*testing.T) (scripts []script, check func())) (runs int) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var w walk
	for {
		runs++
		synctest.Test(t, func(t *testing.T) {
			scripts, check := model(t)
			trace := w.follow(scripts)
			check()
			if t.Failed() { // which ends explore as well
				t.Logf("run %d: %s", runs, strings.Join(trace, "; "))
			}
		})
		if !w.turn() {
			return runs
		}
	}
}

// walk is a path through a tree of choices, taken depth first.
type walk struct {
	path []choice
	at   int
}

type choice struct{ taken, of int }

// follow takes all steps in the order that the walk has come to.
func (w *walk) follow(scripts []script) (trace []string) {
	w.at = 0
	for {
		var ready []int
		for i, s := range scripts {
			if len(s) > 0 {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			synctest.Wait()
			return trace
		}
		i := ready[w.choose(len(ready))]
		s := scripts[i][0]
		scripts[i] = scripts[i][1:]
		s.do()
		trace = append(trace, s.name)
		if w.choose(2) == 0 {
			synctest.Wait()
			trace = append(trace, "wait")
		}
	}
}

func (w *walk) choose(n int) int {
	if w.at == len(w.path) {
		w.path = append(w.path, choice{0, n})
	}
	w.at++
	return w.path[w.at-1].taken
}

// turn goes to the next path, and reports false after the last.
func (w *walk) turn() bool {
	for i := w.at - 1; i >= 0; i-- {
		if c := w.path[i]; c.taken+1 < c.of {
			w.path = append(w.path[:i], choice{c.taken + 1, c.of})
			return true
		}
	}
	return false
}

// Two scripts of two steps have six orders, and after each step but the last
// there is or is no pause: explore finds each once.
func TestExploreTakesEveryOrderOnce(t *testing.T) {
	seen := map[string]bool{}
	runs := explore(t, func(*testing.T) ([]script, func()) {
		var trace []string
		note := func(name string) step { return step{name, func() { trace = append(trace, name) }} }
		return []script{{note("a1"), note("a2")}, {note("b1"), note("b2")}}, func() {
			seen[strings.Join(trace, " ")] = true
		}
	})
	if runs != 6*2*2*2*2 || len(seen) != 6 {
		t.Errorf("%d runs, %d orders, want 96 and 6", runs, len(seen))
	}
}
