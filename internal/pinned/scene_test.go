package pinned

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// open returns Threads that are closed at the end of the test.
func open(t testing.TB, c Config) *Threads {
	t.Helper()
	s, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	return s
}

// Run hands one task over, RunBatch several, where nobody need tell the errors apart.
func (s *Threads) Run(ctx context.Context, task Task) error {
	_, err := s.RunBatch(ctx, []Task{task})
	return err
}

func (s *Threads) RunBatch(ctx context.Context, tasks []Task) (n int, err error) {
	n, faults, why := s.Hand(ctx, tasks, false)
	if faults == nil {
		return n, why
	}
	if why == nil {
		return n, faults
	}
	return n, errors.Join(faults, why)
}

// gate holds a task.
type gate struct{ entered, open chan struct{} }

func newGate() gate { return gate{make(chan struct{}), make(chan struct{})} }

func (g gate) Run(*Thread) {
	close(g.entered)
	<-g.open
}

// start runs the task on a goroutine of its own, and returns what will be its error.
func start(s *Threads, ctx context.Context, task Task) <-chan error { //nolint:revive // s is the receiver in all but name
	result := make(chan error, 1)
	go func() { result <- s.Run(ctx, task) }()
	return result
}

// held returns tasks that run at gates, one on each of n threads.
func held(s *Threads, n int) (gates []gate, results []<-chan error) {
	for range n {
		g := newGate()
		results = append(results, start(s, context.Background(), g))
		<-g.entered
		gates = append(gates, g)
	}
	return gates, results
}

// lawful fails the test if the mutex is left in a state that the argument excludes.
func lawful(t testing.TB, s *Threads) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line.n > 0 && len(s.idle) > 0 && s.flight == nil {
		t.Fatal("a job waits, a thread sleeps, and nobody was roused")
	}
	if s.line.n > 0 && s.vacant == len(s.seats) {
		t.Fatal("a job waits, and no thread will come")
	}
	n, coming := 0, s.coming()
	for j := s.line.head; j != nil; j = j.next {
		if j.inside && n >= coming && s.vacant > 0 {
			t.Fatal("a job from inside a task waits for the end of one")
		}
		if !j.queued || (j.next == nil) != (j == s.line.tail) || j.next != nil && j.next.prev != j {
			t.Fatal("the line is torn")
		}
		n++
	}
	if n != s.line.n {
		t.Fatalf("%d jobs in the line, %d counted", n, s.line.n)
	}
	if s.closing && len(s.idle) > 0 {
		t.Fatal("a thread sleeps although it should end")
	}
	alive := 0
	for st, n := range s.counts {
		if n < 0 && state(st) != ended {
			t.Fatalf("%d threads in state %d", n, st)
		}
		if state(st) != ended {
			alive += n
		}
	}
	if alive != s.live {
		t.Fatalf("%d threads by their states, %d by the goroutines", alive, s.live)
	}
	if occupied := len(s.seats) - s.vacant; occupied > alive-s.counts[kept] {
		t.Fatalf("%d numbers are taken by %d threads", occupied, alive-s.counts[kept])
	}
	if s.flight != nil && slices.Contains(s.idle, s.flight) {
		t.Fatal("roused, and still on the stack")
	}
}

// bubble runs f in a bubble and looks at the laws whenever f asks it to settle.
func bubble(t *testing.T, c Config, f func(t *testing.T, s *Threads, settle func() Stats)) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, c)
		f(t, s, func() Stats {
			synctest.Wait()
			lawful(t, s)
			return s.Stats()
		})
	})
}
