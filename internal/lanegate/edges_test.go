package lanegate

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// kinds are the edges in the order in which they were delivered.
type kinds []EdgeKind

// record returns a callback that notes the edges in *k and demands that they
// alternate and are numbered without a gap.
func record(t *testing.T, k *kinds) func(Edge) {
	seq := uint64(0)
	var busy, full alternation
	return func(e Edge) {
		if seq++; e.Seq != seq {
			t.Errorf("edge %d comes as number %d", e.Seq, seq)
		}
		if !busy.follows(e.Kind, EdgeBusy, EdgeIdle) || !full.follows(e.Kind, EdgeSaturated, EdgeUnsaturated) {
			t.Errorf("edge %d, %d, does not alternate", e.Seq, e.Kind)
		}
		*k = append(*k, e.Kind)
	}
}

// alternation is whether the line is in the state that an edge announces.
type alternation bool

func (a *alternation) follows(k, up, down EdgeKind) bool {
	if k != up && k != down {
		return true
	}
	*a = !*a
	return bool(*a) == (k == up)
}

func TestEachEdgeIsReportedOnceAndInOrder(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		var got kinds
		g := newGate(Config{Slots: 1, Queue: 2, Waiters: 1, Patience: patience, OnEdge: record(t, &got)})
		runner := come(t, g, Request{})
		must(t, Busy, come(t, g, Request{NoWait: true})) // nobody waits
		c := comeAll(t, g, 3, Request{})
		must(t, Overloaded, come(t, g, Request{}))
		c[2].leave()
		c[0].leave()
		c = append(c[1:2], come(t, g, Request{}))
		serve(t, runner, c...)
		want := kinds{EdgeBusy, EdgeSaturated, EdgeUnsaturated, EdgeSaturated, EdgeUnsaturated, EdgeIdle}
		if !slices.Equal(got, want) {
			t.Errorf("edges %v, want %v", got, want)
		}

		// One that is the first and fills the queue, and leaves both states at once.
		got = nil
		g = newGate(Config{Slots: 1, Queue: 1, Patience: patience, OnEdge: record(t, &got)})
		serve(t, come(t, g, Request{}), come(t, g, Request{}))
		if want := (kinds{EdgeBusy, EdgeSaturated, EdgeUnsaturated, EdgeIdle}); !slices.Equal(got, want) {
			t.Errorf("edges %v, want %v", got, want)
		}
	})
}

func TestAPromotionIsNoEdge(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		var got kinds
		g := newGate(Config{Slots: 1, Queue: 1, Waiters: 1, Patience: patience, OnEdge: record(t, &got)})
		runner := come(t, g, Request{})
		c := comeAll(t, g, 2, Request{})
		runner.release(t) // a place becomes free and is filled in one step
		if want := (kinds{EdgeBusy, EdgeSaturated}); !slices.Equal(got, want) {
			t.Errorf("edges %v, want %v", got, want)
		}
		serve(t, c[0], c[1])
	})
}

func TestAQueueOfNoneIsNeverSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got kinds
		g := newGate(Config{Slots: 1, Waiters: 1, Patience: patient, OnEdge: record(t, &got)})
		serve(t, come(t, g, Request{}), come(t, g, Request{}))
		if want := (kinds{EdgeBusy, EdgeIdle}); !slices.Equal(got, want) {
			t.Errorf("edges %v, want %v", got, want)
		}
	})
}

func TestACallbackMayUseTheGate(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		var got kinds
		var g *Gate
		note := record(t, &got)
		g = newGate(Config{Slots: 1, Queue: 9, Patience: patience, OnEdge: func(e Edge) {
			note(e)
			g.Stats()
			if e.Kind == EdgeBusy && e.Seq < 7 {
				g.Resize(2) // lets the one who waits start: the next edge
			} else if e.Kind == EdgeIdle {
				g.Resize(1)
			}
			if e.Seq == 8 {
				g.Close()
			}
		}})
		runner := come(t, g, Request{})
		for range 3 {
			c := come(t, g, Request{})
			must(t, Granted, c)
			c.release(t)
		}
		w := come(t, g, Request{})
		must(t, 0, w)
		serve(t, runner, w)
		must(t, Closed, come(t, g, Request{}))
		if len(got) != 8 {
			t.Errorf("%d edges, want 8", len(got))
		}
		empty(t, g)
	})
}

// A callback that panics, or ends its goroutine, costs no caller its slot, nor its
// place, nor anybody an edge.
func TestACallbackThatDiesHarmsNobody(t *testing.T) {
	for name, die := range map[string]func(){"panic": func() { panic("callback") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, patience time.Duration) {
				var got kinds
				note := record(t, &got)
				g := newGate(Config{Slots: 1, Queue: 2, Patience: patience, OnEdge: func(e Edge) { note(e); die() }})
				runner := come(t, g, Request{})
				serve(t, runner, comeAll(t, g, 2, Request{})...)
				if len(got) != 4 {
					t.Errorf("%d edges, want 4", len(got))
				}
				if n, want := g.Stats().Panicked, map[string]uint64{"panic": 4}[name]; n != want {
					t.Errorf("%d panics, want %d", n, want)
				}
				g.Close()
				mustDrain(t, true, drain(t, g))
				empty(t, g)
			})
		})
	}
}

// The outbox of a callback that hangs is bounded. What is delivered when it goes on
// alternates, and ends with the state that the line is in.
func TestACallbackThatHangsHarmsNobody(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		const rounds = 3 * maxPending
		hang := make(chan struct{})
		var busy, full alternation
		n, seq := uint64(0), uint64(0)
		g := newGate(Config{Slots: 1, Queue: 1, Patience: patience, OnEdge: func(e Edge) {
			<-hang
			n++
			if e.Seq <= seq || !busy.follows(e.Kind, EdgeBusy, EdgeIdle) || !full.follows(e.Kind, EdgeSaturated, EdgeUnsaturated) {
				t.Errorf("edge %d, %d, is out of order", e.Seq, e.Kind)
			}
			seq = e.Seq
		}})
		runner := come(t, g, Request{})
		for range rounds { // four edges each
			c := come(t, g, Request{})
			runner.release(t)
			must(t, Granted, c)
			runner = c
		}
		w := come(t, g, Request{})
		g.mu.Lock()
		if p := len(g.edges.pending); p > maxPending+2 {
			t.Errorf("%d edges are pending", p)
		}
		noted := g.edges.seq
		g.mu.Unlock()
		close(hang)
		synctest.Wait()
		if !busy || !full {
			t.Errorf("busy %v, saturated %v at the end, want both", busy, full)
		}
		if missed := g.Stats().Missed; noted != 4*rounds+2 || n+missed != noted {
			t.Errorf("%d delivered, %d missed, %d noted, want a sum of %d", n, missed, noted, 4*rounds+2)
		}
		serve(t, runner, w)
		empty(t, g)
	})
}
