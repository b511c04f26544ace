package lane_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
)

// Law: a call that is refused in its turn is counted once.
func TestACallRefusedInItsTurnIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 2, PerKey: 1}, CallLimit: time.Second, Grace: lane.NoGrace})
		hangs, behind := newTask(), newTask()
		first := carry(t.Context(), l, lane.Call{Key: "k"}, hangs)
		synctest.Wait()
		second := carry(t.Context(), l, lane.Call{Key: "k"}, behind)
		waiting(t, second)
		time.Sleep(2 * time.Second)
		require.Error(t, returned(t, first))
		require.Error(t, returned(t, second))
		s := l.Stats()
		if s.Submitted != 2 || s.Started != 1 || s.Completed != 1 {
			t.Errorf("two calls, one of which ran: submitted %d, accepted %d, started %d, completed %d, refused %+v", s.Submitted, s.Accepted, s.Started, s.Completed, s.Refused)
		}
		close(hangs.gate)
		shut(t, l)
	})
}

// Law: a shutdown waits for the last steps of calls.
func TestAShutdownWaitsForTheLastStepsOfCalls(t *testing.T) {
	for name, mk := range map[string]func() lane.Carrier{
		"pinned":     func() lane.Carrier { return pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}}) },
		"abandoning": func() lane.Carrier { return abandoning(t, lane.AbandoningConfig{Config: lane.Config{Workers: 1}}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := mk()
				j := &lateEnd{job{run: func(lane.Thread) {}}, make(chan struct{}), make(chan struct{})}
				done := make(chan error, 1)
				go func() { done <- l.Carry(context.Background(), lane.Call{}, j) }()
				<-j.reached
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				if err := l.Shutdown(ctx); err == nil {
					t.Error("shut down before the task's End")
				}
				close(j.gate)
				require.NoError(t, <-done)
				shut(t, l)
			})
		})
	}
}

// Law: a call whose context panics before it has a thread has not run.
func TestACallWhoseContextPanicsHasNotRun(t *testing.T) {
	for n := 1; n < 5; n++ {
		synctest.Test(t, func(t *testing.T) {
			l := pinnedLane(t, lane.PinnedConfig{Config: lane.Config{Workers: 1}})
			j := &job{run: func(lane.Thread) {}}
			m := n
			func() {
				defer func() { _ = recover() }()
				_ = l.Carry(errPanics{context.Background(), &m}, lane.Call{}, j)
			}()
			if s := l.Stats(); int(s.Completed) != j.ran || s.Running != 0 {
				t.Errorf("n=%d: ran %d, %+v", n, j.ran, s)
			}
			shut(t, l)
		})
	}
}

// Law: a key is given back, though the context of its caller panics.
func TestAKeyIsGivenBackThoughTheContextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := threads(t, lane.Config{Workers: 1, PerKey: 1})
		s := take(t, l, lane.Call{})
		n := 1 << 20
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			defer func() { _ = recover() }()
			_, _ = l.Enter(errPanics{context.Background(), &n}, lane.Call{Key: "k"})
		}()
		synctest.Wait()
		n = 1
		l.Leave(s)
		<-gone
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		s, err := l.Enter(ctx, lane.Call{Key: "k"})
		require.NoError(t, err)
		l.Leave(s)
		shut(t, l)
	})
}
