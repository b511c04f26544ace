package linearize

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
)

// play lets clients loose on a registry and returns the history. In the middle of
// it one of them closes the registry, if so wished.
func play(seed uint64, clients, calls int, patience time.Duration, closes bool) []porcupine.Operation {
	r := &record{reg: registry.New[int](clients, patience)}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c := &client{record: r, number: i + 1, rand: rand.New(rand.NewPCG(seed, uint64(i)))}
			c.run(calls)
		})
	}
	if closes {
		for r.clock.Load() < int64(clients*calls) { // of about twice that
			runtime.Gosched()
		}
		r.close(&wg)
	}
	wg.Wait()
	return r.history
}

// close closes the registry and notes what that did to each handle.
func (r *record) close(others *sync.WaitGroup) {
	began := r.clock.Add(1)
	given := map[handle.ID]bool{}
	for _, e := range r.reg.Close() {
		given[e.ID] = true
		r.reg.Disposed(e, nil)
	}
	ended := r.clock.Add(1)
	others.Wait() // from here on r is not shared
	gone := retired(r.history)
	for h, id := range r.handles {
		a := one(given[id], orphan, one(gone[h], no, yes))
		for _, op := range []porcupine.Operation{
			{Input: call{0, h, closing}, Output: yes},
			{Input: call{0, h, closed}, Output: a},
		} {
			op.Call, op.Return = began, ended
			r.history = append(r.history, op)
		}
	}
}

// retired tells the handles that some client has retired.
func retired(history []porcupine.Operation) map[int]bool {
	gone := map[int]bool{}
	for _, op := range history {
		if c := op.Input.(call); c.kind == retire && op.Output != no {
			gone[c.handle] = true
		}
	}
	return gone
}

// Law: the calls on one handle are as if each had happened in one moment between
// its beginning and its end.
func TestCallsOnAHandleAreLinearizable(t *testing.T) {
	answers := map[kind]map[answer]int{}
	for round := range 600 {
		seed := rand.Uint64()
		clients := 4 + round%5
		patience := []time.Duration{-1, 0, time.Millisecond}[round%3]
		history := play(seed, clients, 60, patience, round%2 == 0)
		for _, op := range history {
			k := op.Input.(call).kind
			if answers[k] == nil {
				answers[k] = map[answer]int{}
			}
			answers[k][op.Output.(answer)]++
		}
		switch porcupine.CheckOperationsTimeout(registryModel(), history, 10*time.Second) {
		case porcupine.Ok:
		case porcupine.Illegal:
			t.Fatalf("seed %#x, %d clients, patience %v: not linearizable:\n%s", seed, clients, patience, describe(history))
		case porcupine.Unknown:
			t.Errorf("seed %#x, %d clients, patience %v: not decided in time", seed, clients, patience)
		}
	}
	t.Logf("%v", answers)
}
