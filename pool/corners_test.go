package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: calls that begin after a shutdown has given up are left like those that ran.
func TestCallsThatBeginAfterAShutdownGaveUpAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 1}, CallLimit: lane.NoLimit, Grace: lane.NoGrace})
		require.NoError(t, err)
		p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true})
		busy := newGate()
		h := start(func() error { return p.Offload(bg, busy.pass) })
		busy.await(t, 1)
		g := newGate()
		second := start(func() error { return p.Offload(bg, g.pass, pool.Label("second")) })
		synctest.Wait()
		time.Sleep(time.Second)
		// the first shutdown gives up on the first call; the second one, accepted, begins after that
		require.Error(t, p.Shutdown(within(t, time.Second)))
		synctest.Wait()
		require.ErrorIs(t, <-h, ioerr.ErrShutdown)
		time.Sleep(time.Hour)
		select {
		case err := <-second:
			require.ErrorIs(t, err, ioerr.ErrLeft)
		default:
			t.Error("the caller of an accepted call waits for ever, though the shutdown has given up: ", p.Stats().Running)
		}
		require.Error(t, p.Shutdown(within(t, time.Second)))
		busy.open()
		g.open()
		closes(t, p)
	})
}

// Law: a Restore that ends its goroutine is reported.
func TestARestoreThatExitsIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pinned(t, pool.Config[int]{}, one)
		err := p.Offload(bg, func(ctx context.Context) error {
			th, _ := lane.ThreadOf(ctx)
			th.Restore(func() error { runtime.Goexit(); return nil })
			return nil
		})
		if err == nil {
			t.Error("a Restore that never returned is a success")
		}
		closes(t, p)
	})
}

// Law: a Thread is for its own call only, also after Goexit.
func TestAThreadIsForItsOwnCallOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pinned(t, pool.Config[int]{}, one)
		var th lane.Thread
		_ = p.Offload(bg, func(ctx context.Context) error { th, _ = lane.ThreadOf(ctx); runtime.Goexit(); return nil })
		synctest.Wait()
		panicked := true
		calm(func() { _ = th.Index(); panicked = false })
		if !panicked {
			t.Error("the Thread of a call that has ended still works")
		}
		closes(t, p)
	})
}

// Law: AcceptWithin bounds all that Replace waits for, together.
func TestAcceptWithinBoundsAllWaitsOfReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, busy := newGate(), newGate()
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1, Queue: lane.NoQueue}, HookWithin: time.Hour,
			Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check:  func(int) error { gate.stay(); return errIO }})
		id := adopt(t, p, 1)
		ignore(p.With(bg, id, func(context.Context, int) error { return errIO }))
		time.Sleep(2 * time.Second)
		require.Equal(t, pool.Probing, p.Health(id))
		holder := start(func() error { return p.Do(bg, busy.pass) }) // waits for the slot of the probe
		synctest.Wait()
		began := time.Now()
		replaced := start(func() error {
			return p.Replace(bg, id, func(context.Context, int) (int, error) { return 2, nil }, pool.AcceptWithin(10*time.Second))
		})
		time.Sleep(8 * time.Second)
		gate.open()
		err := <-replaced
		if d := time.Since(began); d > 11*time.Second {
			t.Errorf("AcceptWithin(10s): after %v: %v", d, err)
		}
		busy.open()
		succeeds(t, <-holder)
		_ = p.Close()
	})
}

// Law: Bad is not asked about openings.
func TestBadIsNotAskedAboutOpenings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		p := makePool(t, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { asked.Add(1); return true }}})
		_, err := p.Register(bg, func(context.Context) (int, error) { return 0, errIO })
		require.Error(t, err)
		if n := asked.Load(); n != 0 {
			t.Errorf("Bad was asked %d times about an opening", n)
		}
		closes(t, p)
	})
}

// Law: poison counts, also if Bad ends its goroutine.
func TestPoisonCountsThoughBadExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := makePool(t, pool.Config[int]{Health: pool.HealthRules{Bad: func(error) bool { runtime.Goexit(); return true }}})
		id := adopt(t, p, 1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = p.With(bg, id, func(context.Context, int) error { return pool.Poison(errIO) })
		}()
		<-done
		if h := p.Health(id); h != pool.Poisoned {
			t.Errorf("%v", h)
		}
		if s := p.Stats(); s.Failed != 1 {
			t.Errorf("%+v", s)
		}
		_ = p.Close()
	})
}

// Law: a Replace that waits for a probe is listed.
func TestAReplaceThatWaitsForAProbeIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, gate, replaced := replaceWaits(t, pool.Label("replace"))
		if w := p.Stats().Waiting; len(w) != 1 {
			t.Errorf("%+v", w)
		}
		gate.open()
		succeeds(t, <-replaced)
		_ = p.Close()
	})
}

// Law: a Check that hangs on a thread of the lane is in the report once.
func TestACheckThatHangsOnPinnedIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := pinned(t, pool.Config[int]{HookWithin: time.Second, Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
			Check: func(int) error { g.stay(); return nil }}, lane.PinnedConfig{Config: lane.Config{Workers: 2}})
		id := adopt(t, p, 1)
		ignore(p.OffloadOn(bg, id, func(context.Context, int) error { return errIO }))
		time.Sleep(10 * time.Second)
		report, ok := errors.AsType[*pool.Report](p.Shutdown(within(t, time.Second)))
		if !ok || len(report.Running) != 1 || report.Others != 0 {
			t.Errorf("%+v", report)
		}
		g.open()
		_ = p.Close()
	})
}

// Law: an Interrupt that runs hides no call in the report.
func TestAnInterruptHidesNoCallInTheReport(t *testing.T) {
	g, h := newGate(), newGate()
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 2}, Interrupt: func(int) { h.stay() }})
	id := adopt(t, p, 1)
	ctx, cancel := context.WithCancel(bg)
	c := start(func() error { return p.With(ctx, id, hold[int](g)) })
	g.await(t, 1)
	cancel()
	h.await(t, 1)
	var report *pool.Report
	ok := errors.As(p.Shutdown(within(t, 20*time.Millisecond)), &report)
	if !ok || report.Others != 0 {
		t.Errorf("the call on the handle is not known: %+v", report)
	}
	h.open()
	g.open()
	ignore(<-c)
	_ = p.Close()
}

// Law: a watch may be stopped while calls still come.
func TestAWatchIsStoppedWhileCallsCome(t *testing.T) {
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}, Watch: pool.Watch{Queue: 40 * time.Millisecond}})
	id := adopt(t, p, 1)
	busy := newGate()
	holder := start(func() error { return p.Do(bg, busy.pass) })
	busy.await(t, 1)
	second := start(func() error { return p.Do(bg, nothing) })
	time.Sleep(43 * time.Millisecond) // QueueSlow is told
	late := start(func() error {
		return p.With(sleepyErr{context.WithoutCancel(notBackground)}, id, leave)
	})
	time.Sleep(time.Millisecond)
	busy.open()
	ignore(<-holder)
	ignore(<-second)
	_ = p.Close()
	ignore(<-late)
}
