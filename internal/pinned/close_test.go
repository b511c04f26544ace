package pinned

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
)

func TestCloseRunsWhatWasAcceptedAndRefusesTheRest(t *testing.T) {
	var h hooks
	bubble(t, h.config(2), func(t *testing.T, s *Threads, settle func() Stats) {
		gates, results := held(s, 2)
		results = append(results, start(s, t.Context(), Func(func(*Thread) {})))
		settle()
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- s.Close(ctx) }()
		settle()
		if err := s.Run(t.Context(), Func(func(*Thread) { t.Error("ran") })); err != ioerr.ErrShutdown {
			t.Fatalf("a newcomer got %v", err)
		}
		cancel()
		if err := <-over; err != context.Canceled {
			t.Fatalf("Close with an ended context: %v", err)
		}
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- s.Close(context.Background()) }()
		}
		for _, g := range gates {
			close(g.open)
		}
		for _, r := range results {
			require.NoError(t, <-r)
		}
		require.NoError(t, <-closed)
		require.NoError(t, <-closed)
		if got, want := settle(), (Stats{Vacant: 2}); got != want {
			t.Fatalf("closed: %+v, want %+v", got, want)
		}
		require.ElementsMatch(t, []string{"start0", "start1", "stop0", "stop1"}, h.taken())
		require.NoError(t, s.Close(ctx), "what is closed is closed, whatever the context")
	})
}

// The rest of a batch runs even if Close has ended all other threads.
func TestCloseReplacesATaintedThreadWhileWorkIsLeft(t *testing.T) {
	bubble(t, Config{Threads: 2, Keep: 1}, func(t *testing.T, s *Threads, settle func() Stats) {
		g := newGate()
		ran := 0
		count := Func(func(th *Thread) { ran++; th.Taint() })
		over := make(chan int)
		go func() {
			n, err := s.RunBatch(context.Background(), []Task{g, count, count, count})
			if err != nil {
				t.Error(err)
			}
			over <- n
		}()
		<-g.entered
		closed := make(chan error)
		go func() { closed <- s.Close(context.Background()) }()
		if got := settle(); got.Threads != 1 {
			t.Fatalf("the idle thread should have ended: %+v", got)
		}
		close(g.open)
		if n := <-over; n != 4 || ran != 3 {
			t.Fatalf("%d ran, it says %d", ran+1, n)
		}
		require.NoError(t, <-closed)
	})
}

func TestCloseReplacesNoThreadInVain(t *testing.T) {
	var h hooks
	bubble(t, h.config(1), func(t *testing.T, s *Threads, settle func() Stats) {
		g := newGate()
		result := start(s, t.Context(), Func(func(th *Thread) { th.Taint(); g.Run(th) }))
		<-g.entered
		closed := make(chan error)
		go func() { closed <- s.Close(context.Background()) }()
		settle()
		close(g.open)
		require.NoError(t, <-result)
		require.NoError(t, <-closed)
		require.Equal(t, []string{"start0", "stop0"}, h.taken())
	})
}

// Nor does it fill the number of a thread that has ended, for the rest of a batch.
func TestCloseStartsNoThreadAnew(t *testing.T) {
	var h hooks
	bubble(t, h.config(2), func(t *testing.T, s *Threads, settle func() Stats) {
		g := newGate()
		over := make(chan int)
		go func() {
			n, err := s.RunBatch(context.Background(), []Task{
				g, Func(func(th *Thread) { th.Taint() }), Func(func(*Thread) {}),
			})
			if err != nil {
				t.Error(err)
			}
			over <- n
		}()
		<-g.entered
		closed := make(chan error)
		go func() { closed <- s.Close(context.Background()) }()
		if got := settle(); got.Vacant != 1 {
			t.Fatalf("got %+v", got)
		}
		h.taken()
		close(g.open)
		if n := <-over; n != 3 {
			t.Fatalf("%d have run", n)
		}
		require.NoError(t, <-closed)
		if log := h.taken(); len(log) != 3 || log[0][4:] != log[2][4:] {
			t.Fatalf("%v, want stop, start and stop of one thread", log)
		}
	})
}

// If it cannot be replaced, the rest is told so.
func TestCloseTellsTheRestThatNoThreadIsLeft(t *testing.T) {
	var h hooks
	bubble(t, h.config(1), func(t *testing.T, s *Threads, settle func() Stats) {
		g := newGate()
		type result struct {
			n   int
			err error
		}
		over := make(chan result)
		go func() {
			n, err := s.RunBatch(context.Background(), []Task{g, Func(func(*Thread) { runtime.Goexit() }), Func(func(*Thread) { t.Error("ran") })})
			over <- result{n, err}
		}()
		<-g.entered
		h.start = func(int) error { return errHook }
		closed := make(chan error)
		go func() { closed <- s.Close(context.Background()) }()
		settle()
		close(g.open)
		got := <-over
		if got.n != 2 || !errors.Is(got.err, errHook) || !errors.Is(got.err, ioerr.ErrGoexit) {
			t.Fatalf("got %+v", got)
		}
		require.NoError(t, <-closed)
	})
}

func TestStopThatDoesNotReturnIsReportedByClose(t *testing.T) {
	for name, stop := range map[string]func(int){
		"Goexit": func(int) { runtime.Goexit() },
		"panic":  func(int) { panic(errHook) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hooks
				h.stop = stop
				s, err := New(h.config(2))
				require.NoError(t, err)
				require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) { th.Taint() })))
				for range 2 {
					err = s.Close(context.Background())
					if e, ok := errors.AsType[*ioerr.StopError](err); !ok || !errors.Is(e, errHook) && !errors.Is(e, ioerr.ErrGoexit) {
						t.Fatalf("got %v", err)
					}
				}
				if got := len(s.stops); got < 2 || got > 3 {
					t.Fatalf("%d failures noted", got)
				}
				lawful(t, s)
			})
		})
	}
}
