package pinned

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

func TestEachTaskRunsOnceOnAThreadOfItsOwn(t *testing.T) {
	bubble(t, Config{Threads: 3}, func(t *testing.T, s *Threads, settle func() Stats) {
		if got, want := settle(), (Stats{Threads: 3, Idle: 3}); got != want {
			t.Fatalf("at first %+v, want %+v", got, want)
		}
		gates, results := held(s, 3)
		if got, want := settle(), (Stats{Threads: 3, Running: 3}); got != want {
			t.Fatalf("at work %+v, want %+v", got, want)
		}
		for i, g := range gates {
			close(g.open)
			require.NoError(t, <-results[i])
		}
		if got, want := settle(), (Stats{Threads: 3, Idle: 3}); got != want {
			t.Fatalf("at the end %+v, want %+v", got, want)
		}
	})
}

// What comes beyond N waits in order for the next free thread.
func TestSurplusTasksWaitInOrder(t *testing.T) {
	bubble(t, Config{Threads: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		gates, results := held(s, 1)
		var order []int
		for i := range 5 {
			results = append(results, start(s, t.Context(), Func(func(*Thread) { order = append(order, i) })))
			if got := settle(); got.Waiting != i+1 {
				t.Fatalf("%d wait, want %d", got.Waiting, i+1)
			}
		}
		close(gates[0].open)
		for _, r := range results {
			require.NoError(t, <-r)
		}
		for i, got := range order {
			if got != i {
				t.Fatalf("ran in the order %v", order)
			}
		}
	})
}

func TestTaskWhoseContextEndsInTheLineNeverRuns(t *testing.T) {
	bubble(t, Config{Threads: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		gates, results := held(s, 1)
		ctx, cancel := context.WithCancel(t.Context())
		never := start(s, ctx, Func(func(*Thread) { t.Error("ran") }))
		settle()
		cancel()
		if err := <-never; err != context.Canceled {
			t.Fatalf("got %v", err)
		}
		if got := settle(); got.Waiting != 0 {
			t.Fatalf("left its place behind: %+v", got)
		}
		if err := s.Run(ctx, Func(func(*Thread) { t.Error("ran") })); err != context.Canceled {
			t.Fatalf("ended before it came: got %v", err)
		}
		close(gates[0].open)
		require.NoError(t, <-results[0])
	})
}

func TestContextIsOfNoAccountOnceTheTaskRuns(t *testing.T) {
	bubble(t, Config{Threads: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		ctx, cancel := context.WithCancel(t.Context())
		g := newGate()
		result := start(s, ctx, g)
		<-g.entered
		cancel()
		settle()
		select {
		case err := <-result:
			t.Fatalf("left a running task: %v", err)
		default:
		}
		close(g.open)
		require.NoError(t, <-result)
	})
}

func TestBatchRunsInOrderOnOneThread(t *testing.T) {
	bubble(t, Config{Threads: 2}, func(t *testing.T, s *Threads, _ func() Stats) {
		var on []*Thread
		var order []int
		var tasks []Task
		for i := range 16 {
			tasks = append(tasks, Func(func(th *Thread) { on, order = append(on, th), append(order, i) }))
		}
		n, err := s.RunBatch(t.Context(), tasks)
		require.NoError(t, err)
		if n != 16 || len(order) != 16 {
			t.Fatalf("%d ran, it says %d, want 16", len(order), n)
		}
		for i := range order {
			if order[i] != i || on[i] != on[0] {
				t.Fatalf("order %v", order)
			}
		}
		n, err = s.RunBatch(t.Context(), nil)
		if n != 0 || err != nil {
			t.Fatalf("an empty batch: %d, %v", n, err)
		}
	})
}

// A batch that is tainted half-way goes on elsewhere, before whoever waits.
func TestRestOfABatchNeverRunsOnATaintedThread(t *testing.T) {
	bubble(t, Config{Threads: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		g := newGate()
		var order []string
		var first, second *Thread
		batch := []Task{
			g,
			Func(func(th *Thread) { first = th; th.Taint(); order = append(order, "taints") }),
			Func(func(th *Thread) { second = th; order = append(order, "rest") }),
		}
		type result struct {
			n   int
			err error
		}
		over := make(chan result)
		go func() {
			n, err := s.RunBatch(t.Context(), batch)
			over <- result{n, err}
		}()
		<-g.entered
		other := start(s, t.Context(), Func(func(*Thread) { order = append(order, "other") }))
		settle()
		close(g.open)
		if got := <-over; got != (result{3, nil}) {
			t.Fatalf("got %+v", got)
		}
		require.NoError(t, <-other)
		require.Equal(t, []string{"taints", "rest", "other"}, order)
		if first == second || second.Tainted() || first.Index() != second.Index() {
			t.Fatal("the rest ran where it should not")
		}
		if got, want := settle(), (Stats{Threads: 1, Idle: 1, Retired: 1}); got != want {
			t.Fatalf("at the end %+v, want %+v", got, want)
		}
	})
}

func TestGoexitIsToldAndTheThreadReplaced(t *testing.T) {
	bubble(t, Config{Threads: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		ran := 0
		exit := Func(func(*Thread) { ran++; runtime.Goexit() })
		err := s.Run(t.Context(), exit)
		if e, ok := errors.AsType[*ExitError](err); !ok || e.Task != 0 || !errors.Is(err, ioerr.ErrGoexit) {
			t.Fatalf("got %v", err)
		}
		fine := Func(func(*Thread) { ran++ })
		n, err := s.RunBatch(t.Context(), []Task{fine, exit, fine, exit, fine})
		if n != 5 || ran != 6 {
			t.Fatalf("%d ran of the batch, %d in all", n, ran)
		}
		for _, want := range []string{"task 1", "task 3"} {
			require.ErrorContains(t, err, want)
		}
		if got, want := settle(), (Stats{Threads: 1, Idle: 1, Retired: 3}); got != want {
			t.Fatalf("at the end %+v, want %+v", got, want)
		}
	})
}

func TestRestoreRunsLastFirstAndItsFailureTaints(t *testing.T) {
	bubble(t, Config{Threads: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		var order []string
		undo := func(name string, err error) func() error {
			return func() error { order = append(order, name); return err }
		}
		task := Func(func(th *Thread) { th.Restore(undo("a", nil)); th.Restore(undo("b", nil)) })
		require.NoError(t, s.Run(t.Context(), task))
		require.Equal(t, []string{"b", "a"}, order)
		if got := settle(); got.Retired != 0 {
			t.Fatalf("retired although restored: %+v", got)
		}

		order = nil
		bad := errors.New("not permitted")
		err := s.Run(t.Context(), Func(func(th *Thread) { th.Restore(undo("a", nil)); th.Restore(undo("b", bad)) }))
		if e, ok := errors.AsType[*ioerr.RestoreError](err); !ok || e.Task != 0 || !errors.Is(err, bad) {
			t.Fatalf("got %v", err)
		}
		require.Equal(t, []string{"b", "a"}, order, "the others are put back all the same")
		if got, want := settle(), (Stats{Threads: 1, Idle: 1, Retired: 1}); got != want {
			t.Fatalf("at the end %+v, want %+v", got, want)
		}
	})
}

// A thread that is awake takes what waits; nobody is woken for it.
func TestOneThreadInFlightAtATime(t *testing.T) {
	s, err := newThreads(Config{Threads: 3})
	require.NoError(t, err)
	s.spawn = func(*Thread) {}
	var threads []*Thread
	for i := range 3 {
		th := &Thread{index: i, Parker: signal.NewParker()}
		s.counts[starting]++
		s.seats[i] = true
		s.vacant--
		s.live++
		threads = append(threads, th)
		if _, sleep := s.look(th); !sleep {
			t.Fatal("found work where there is none")
		}
	}
	for range 5 {
		j := s.newJob()
		require.NoError(t, s.enqueue(j))
		lawful(t, s)
		if s.flight != threads[2] || len(s.idle) != 2 {
			t.Fatal("want the thread that slept last roused, and no second one")
		}
	}
	threads[2].Take()
	if j, _ := s.look(threads[2]); j == nil || s.flight != threads[1] {
		t.Fatal("a roused thread that leaves work behind rouses the next")
	}
	for range 4 { // meanwhile it takes the rest itself
		if j, _ := s.look(threads[2]); j == nil {
			t.Fatal("found nothing")
		}
	}
	threads[1].Take()
	if _, sleep := s.look(threads[1]); !sleep || s.flight != nil || len(s.idle) != 2 {
		t.Fatal("a thread that came too late sleeps again, and is in flight no more")
	}
	lawful(t, s)
}

// The caller of a job is told when the thread is idle, or has taken the next one.
func TestCallerIsToldAfterTheThreadHasLookedFurther(t *testing.T) {
	s, err := newThreads(Config{Threads: 1})
	require.NoError(t, err)
	s.spawn = func(*Thread) {}
	th := &Thread{Parker: signal.NewParker()}
	s.counts[starting]++
	s.seats[0], s.vacant, s.live = true, 0, 1
	s.look(th)
	j := s.newJob()
	j.tasks = []Task{Func(func(*Thread) {})}
	require.NoError(t, s.enqueue(j))
	th.Take()
	if got, _ := s.look(th); got != j || !th.run(j) {
		t.Fatal("the job did not run")
	}
	now := make(chan struct{})
	close(now)
	for range 20 { // one token in any of them would do
		if j.Sleep(now, nil) == signal.Woken {
			t.Fatal("told too early")
		}
	}
	if _, sleep := s.look(th); !sleep || len(s.idle) != 1 {
		t.Fatal("the thread is not idle")
	}
	j.Take()
	lawful(t, s)
}
