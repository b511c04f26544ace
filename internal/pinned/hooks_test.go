package pinned

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
)

var errHook = errors.New("no licence")

// hooks are counted by thread, and fail when they are told to.
type hooks struct {
	mu    sync.Mutex
	log   []string
	start func(i int) error
	stop  func(i int)
}

func (h *hooks) config(threads int) Config {
	return Config{
		Threads: threads,
		Start: func(i int) error {
			h.note("start", i)
			if h.start != nil {
				return h.start(i)
			}
			return nil
		},
		Stop: func(i int) {
			h.note("stop", i)
			if h.stop != nil {
				h.stop(i)
			}
		},
	}
}

func (h *hooks) note(what string, i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, what+string(rune('0'+i)))
}

func (h *hooks) taken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.log
	h.log = nil
	return l
}

func TestNewFailsWithTheStartErrorAndStopsTheOthers(t *testing.T) {
	for name, fail := range map[string]struct {
		start func() error
		match func(error) bool
	}{
		"error":  {func() error { return errHook }, func(err error) bool { return errors.Is(err, errHook) }},
		"Goexit": {func() error { runtime.Goexit(); return nil }, func(err error) bool { return errors.Is(err, ioerr.ErrGoexit) }},
		"panic": {func() error { panic("boom") }, func(err error) bool {
			_, ok := errors.AsType[*ioerr.PanicError](err)
			return ok
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hooks
				h.start = func(i int) error {
					if i >= 1 {
						return fail.start()
					}
					return nil
				}
				s, err := New(h.config(3))
				if e, ok := errors.AsType[*ioerr.StartError](err); s != nil || !ok || e.Thread != 1 || !fail.match(err) {
					t.Fatalf("got %v, %v", s, err)
				}
				require.ElementsMatch(t, []string{"start0", "start1", "start2", "stop0"}, h.taken())
			})
		})
	}
}

// Stop has returned before the replacement of the same number starts.
func TestStopBeforeTheStartOfTheReplacement(t *testing.T) {
	for name, task := range map[string]Func{
		"taint":  func(th *Thread) { th.Taint() },
		"Goexit": func(*Thread) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			synctest.Test(t, func(t *testing.T) {
				s := open(t, h.config(1))
				_ = s.Run(t.Context(), task)
				synctest.Wait()
				lawful(t, s)
				require.Equal(t, []string{"start0", "stop0", "start0"}, h.taken())
			})
			require.Equal(t, []string{"stop0"}, h.taken())
		})
	}
}

// The caller of a task that taints does not wait for hooks; the next one does.
func TestNextCallerWaitsForTheReplacement(t *testing.T) {
	var h hooks
	bubble(t, h.config(1), func(t *testing.T, s *Threads, settle func() Stats) {
		hold := make(chan struct{})
		h.start = func(int) error { <-hold; return nil }
		require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) { th.Taint() })))
		next := start(s, t.Context(), Func(func(*Thread) {}))
		if got, want := settle(), (Stats{Threads: 1, Starting: 1, Waiting: 1, Retired: 1}); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		close(hold)
		require.NoError(t, <-next)
	})
}

func TestFailedReplacementIsToldAndTriedAgainByTheNext(t *testing.T) {
	var h hooks
	bubble(t, h.config(1), func(t *testing.T, s *Threads, settle func() Stats) {
		hold := make(chan struct{})
		h.start = func(int) error { <-hold; return errHook }
		require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) { th.Taint() })))
		never := Func(func(*Thread) { t.Error("ran") })
		waits := start(s, t.Context(), never)
		settle()
		close(hold)
		if e, ok := errors.AsType[*ioerr.StartError](<-waits); !ok || !errors.Is(e, errHook) {
			t.Fatalf("who waited got %v", e)
		}
		if got, want := settle(), (Stats{Vacant: 1, Retired: 1}); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		h.taken()
		if err := s.Run(t.Context(), never); !errors.Is(err, errHook) {
			t.Fatalf("the next got %v", err)
		}
		require.Equal(t, []string{"start0"}, h.taken(), "one attempt for a caller")
		h.start = nil
		require.NoError(t, s.Run(t.Context(), Func(func(*Thread) {})))
		if got, want := settle(), (Stats{Threads: 1, Idle: 1, Retired: 1}); got != want {
			t.Fatalf("recovered: %+v, want %+v", got, want)
		}
	})
}

// However many come, one attempt is under way at a time, and the next begins when the
// thread that was won leaves somebody waiting.
func TestOneAttemptAtATime(t *testing.T) {
	var h hooks
	bubble(t, h.config(2), func(t *testing.T, s *Threads, settle func() Stats) {
		h.start = func(int) error { return errHook }
		for range 2 {
			require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) { th.Taint() })))
			settle()
		}
		h.taken()
		hold := make(chan struct{})
		h.start = func(int) error { <-hold; return nil }
		var results []<-chan error
		for range 3 {
			results = append(results, start(s, t.Context(), Func(func(*Thread) {})))
			if got, want := settle(), (Stats{Threads: 1, Starting: 1, Vacant: 1, Waiting: len(results), Retired: 2}); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}
		close(hold)
		for _, r := range results {
			require.NoError(t, <-r)
		}
		if got, want := settle(), (Stats{Threads: 2, Idle: 2, Retired: 2}); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// As long as one thread lives, a failed replacement fails nobody.
func TestVacantNumberFailsNobodyBesideALivingThread(t *testing.T) {
	var h hooks
	bubble(t, h.config(2), func(t *testing.T, s *Threads, settle func() Stats) {
		h.start = func(int) error { return errHook }
		require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) { th.Taint() })))
		settle()
		gates, results := held(s, 1)
		next := start(s, t.Context(), Func(func(*Thread) {}))
		if got := settle(); got.Vacant != 1 || got.Waiting != 1 {
			t.Fatalf("got %+v", got)
		}
		close(gates[0].open)
		require.NoError(t, <-results[0])
		require.NoError(t, <-next)
	})
}

// Whoever is inside a task must not wait for the end of one, which could be his own: with
// a number vacant he is refused, as soon as it is known that no thread comes.
func TestWhoIsInsideATaskDoesNotWaitForTheEndOfOne(t *testing.T) {
	var h hooks
	bubble(t, h.config(2), func(t *testing.T, s *Threads, settle func() Stats) {
		hold := make(chan struct{})
		h.start = func(int) error { <-hold; return errHook }
		require.NoError(t, s.Run(t.Context(), Func(func(th *Thread) { th.Taint() })))
		gates, results := held(s, 1)
		inside := make(chan error, 1)
		go func() {
			_, _, err := s.Hand(t.Context(), []Task{Func(func(*Thread) { t.Error("ran") })}, true)
			inside <- err
		}()
		other := start(s, t.Context(), Func(func(*Thread) {}))
		if got := settle(); got.Waiting != 2 || got.Starting != 1 {
			t.Fatalf("got %+v", got) // a thread may come yet
		}
		close(hold)
		if err := <-inside; err != ioerr.ErrReentry {
			t.Fatalf("got %v", err)
		}
		if got := settle(); got.Waiting != 1 || got.Vacant != 1 {
			t.Fatalf("got %+v", got)
		}
		close(gates[0].open)
		require.NoError(t, <-results[0])
		require.NoError(t, <-other)
		n, _, err := s.Hand(t.Context(), []Task{Func(func(*Thread) {}), Func(func(*Thread) {})}, true)
		if n != 2 || err != nil {
			t.Fatalf("with a thread for it: %d, %v", n, err)
		}
	})
}

func TestKeptThreadsSleepUntilClose(t *testing.T) {
	var h hooks
	c := h.config(2)
	c.Keep = 1
	taint := Func(func(th *Thread) { th.Taint() })
	synctest.Test(t, func(t *testing.T) {
		s, err := New(c)
		require.NoError(t, err)
		for _, want := range []Stats{
			{Threads: 3, Idle: 2, Kept: 1, Retired: 1},
			{Threads: 3, Idle: 1, Kept: 2, Retired: 2, Vacant: 1},
			{Threads: 3, Idle: 0, Kept: 3, Retired: 3, Vacant: 2},
		} {
			require.NoError(t, s.Run(t.Context(), taint))
			synctest.Wait()
			lawful(t, s)
			if got := s.Stats(); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}
		if err := s.Run(t.Context(), taint); !errors.Is(err, ioerr.ErrKept) {
			t.Fatalf("with all kept: %v", err)
		}
		if j, err := s.Put([]Task{taint}, false); j != nil || !errors.Is(err, ioerr.ErrKept) {
			t.Fatalf("with all kept, without waiting: %v, %v", j, err)
		}
		lawful(t, s)
		require.NoError(t, s.Close(context.Background()))
		if got, want := s.Stats(), (Stats{Vacant: 2, Retired: 3}); got != want {
			t.Fatalf("closed: %+v, want %+v", got, want)
		}
	})
	starts, stops := 0, 0
	for _, l := range h.taken() {
		if l[:4] == "stop" {
			stops++
		} else {
			starts++
		}
	}
	if starts != 3 || stops != 3 {
		t.Fatalf("%d starts, %d stops, want 3 of each", starts, stops)
	}
}
