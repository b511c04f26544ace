package lane_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// batch is tasks that note the thread and the order in which they ran.
type batch struct {
	jobs    []*job
	order   []int
	threads []int // numbers of the system
}

func newBatch(n int, also map[int]func(lane.Thread)) (*batch, []lane.Task) {
	b := new(batch)
	var tasks []lane.Task
	for i := range n {
		j := &job{}
		j.run = func(th lane.Thread) {
			b.order, b.threads = append(b.order, i), append(b.threads, th.ID())
			if f := also[i]; f != nil {
				f(th)
			}
		}
		b.jobs, tasks = append(b.jobs, j), append(tasks, j)
	}
	return b, tasks
}

// check checks that the first n have run and ended, and no other.
func (b *batch) check(t *testing.T, n int) {
	t.Helper()
	for i, j := range b.jobs {
		want := 0
		if i < n {
			want = 1
		}
		if j.ran != want || j.ended != want {
			t.Errorf("task %d ran %d times and ended %d times, want %d", i, j.ran, j.ended, want)
		}
	}
	for i, at := range b.order {
		if at != i {
			t.Errorf("order %v", b.order)
		}
	}
}

// Law: a batch runs in order, on one thread, in one slot, as one call.
func TestABatchRunsInOrderOnOneThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 3}})
		for _, size := range []int{100, 0, 1, 7} {
			b, tasks := newBatch(size, map[int]func(lane.Thread){5: func(lane.Thread) {
				if got := l.Stats().Running; got != 1 {
					t.Errorf("%d calls run", got)
				}
			}})
			n, err := l.CarryBatch(t.Context(), lane.Call{}, tasks)
			require.NoError(t, err)
			require.Equal(t, size, n)
			b.check(t, size)
			for _, th := range b.threads {
				if th != b.threads[0] {
					t.Error("the batch ran on several threads")
				}
			}
		}
		if s := l.Stats(); s.Completed != 4 || s.Threads.Retired != 0 {
			t.Errorf("%+v", s)
		}
		shut(t, l)
	})
}

// Law: what is behind a task that spoils its thread runs on another one, and each task
// gets the error of its own Restore.
func TestABatchGoesOnWhereAThreadIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, worse := errors.New("bad"), errors.New("worse")
		l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}})
		restore := func(errs ...error) func(lane.Thread) {
			return func(th lane.Thread) {
				for _, err := range errs {
					th.Restore(func() error { return err })
				}
			}
		}
		b, tasks := newBatch(6, map[int]func(lane.Thread){
			0: func(th lane.Thread) { th.Taint() },
			1: restore(bad, worse),
			2: func(lane.Thread) { runtime.Goexit() },
			4: restore(worse),
		})
		n, err := l.CarryBatch(t.Context(), lane.Call{}, tasks)
		require.NoError(t, err)
		require.Equal(t, 6, n)
		b.check(t, 6)
		for i, j := range b.jobs {
			_, ok := errors.AsType[*ioerr.RestoreError](j.err)
			if want := i == 1 || i == 4; ok != want || errors.Is(j.err, bad) != (i == 1) || errors.Is(j.err, worse) != want {
				t.Errorf("task %d: %v", i, j.err)
			}
		}
		synctest.Wait()
		if s := l.Stats(); s.Threads != (lane.ThreadStats{Alive: 1, Retired: 4}) {
			t.Errorf("%+v", s.Threads)
		}
		shut(t, l)
	})
}

// Law: when a batch stops half-way its caller learns how far it came and why; what has
// run has ended, and the rest is not touched.
func TestABatchThatStopsHalfWaySaysHowFarItCame(t *testing.T) {
	broken := errors.New("broken")
	for name, want := range map[string]error{"context": context.Canceled, "start": broken} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first, hold := true, make(chan struct{})
			l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}, Start: func(int) error {
				switch {
				case first:
					first = false
				case name == "start":
					return broken
				default:
					cancel()
					<-hold
				}
				return nil
			}})
			b, tasks := newBatch(5, map[int]func(lane.Thread){2: func(th lane.Thread) { th.Taint() }})
			n, err := l.CarryBatch(ctx, lane.Call{}, tasks)
			if n != 3 || !errors.Is(err, want) {
				t.Errorf("%d, %v", n, err)
			}
			b.check(t, 3)
			close(hold)
			s := l.Stats()
			addUp(t, s)
			if s.Completed != 1 || s.Dropped != 0 {
				t.Errorf("%+v", s)
			}
			shut(t, l)
		})
	}
}
