package pinned

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
)

// Everything at once on true threads: no task is lost or runs twice, no thread of one
// number meets another one of the same, and Close ends in the midst of it.
func TestStress(t *testing.T) {
	const threads, callers = 4, 16
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	var alive [threads]atomic.Int32
	config := Config{
		Threads: threads,
		Keep:    3 * rand.IntN(2),
		Start: func(i int) error {
			if rand.IntN(5) == 0 && alive[0].Load() > 0 {
				return errHook
			}
			if alive[i].Add(1) != 1 {
				t.Errorf("two threads with number %d", i)
			}
			return nil
		},
		Stop: func(i int) { alive[i].Add(-1) },
	}
	s, err := New(config)
	for errors.Is(err, errHook) { // one of the first starts has failed
		s, err = New(config)
	}
	require.NoError(t, err)

	task := func(ran *atomic.Int32) Task {
		return Func(func(th *Thread) {
			ran.Add(1)
			switch rand.IntN(400) {
			case 0:
				th.Taint()
			case 1:
				runtime.Goexit()
			case 2:
				th.Restore(func() error { return errHook })
			case 3:
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range rounds {
				ctx, cancel := context.WithCancel(context.Background())
				if rand.IntN(4) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(100))*time.Microsecond, cancel)
				}
				ran := make([]atomic.Int32, 1+rand.IntN(8))
				tasks := make([]Task, len(ran))
				for i := range tasks {
					tasks[i] = task(&ran[i])
				}
				n, err := s.RunBatch(ctx, tasks)
				cancel()
				for i := range ran {
					want := int32(0)
					if i < n {
						want = 1
					}
					if got := ran[i].Load(); got != want {
						t.Errorf("task %d of %d ran %d times, it says %d: %v", i, len(ran), got, n, err)
					}
				}
				if n < len(tasks) && err == nil {
					t.Error("not all have run, and nothing was said")
				}
				lawful(t, s)
			}
		})
	}
	if rand.IntN(2) == 0 {
		wg.Wait()
	}
	require.NoError(t, s.Close(context.Background()))
	if err := s.Run(context.Background(), Func(func(*Thread) { t.Error("ran") })); err != ioerr.ErrShutdown {
		t.Errorf("closed, and says %v", err)
	}
	wg.Wait()
	for i := range alive {
		if n := alive[i].Load(); n != 0 {
			t.Errorf("number %d: %d starts without a stop", i, n)
		}
	}
	if got := s.Stats(); got.Threads != 0 || got.Waiting != 0 || got.Vacant != threads {
		t.Errorf("closed: %+v", got)
	}
}
