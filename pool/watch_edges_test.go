package pool_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: a limit that never comes switches no other one off.
func TestAHugeLimitSwitchesNothingElseOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		p := makePool(t, pool.Config[int]{OnEvent: l.add, Watch: pool.Watch{Slow: math.MaxInt64, Queue: time.Second}, Health: pool.HealthRules{Stuck: time.Second}})
		id := adopt(t, p, 1)
		time.Sleep(time.Second)
		gate := newGate()
		call := start(func() error { return p.With(bg, id, hold[int](gate)) })
		synctest.Wait()
		wait := start(func() error { return p.With(bg, id, fails(nil)) })
		time.Sleep(time.Hour)
		if h := p.Health(id); h != pool.Down {
			t.Errorf("stuck for an hour, limit 1 s, and %v; events %v", h, l.take())
		}
		gate.open()
		ignore(<-call)
		ignore(<-wait)
		closes(t, p)
	})
}

// Law: a lane in which nothing has ended yet since nobody called is not wedged.
func TestALaneThatWasIdleIsNotWedged(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Workers: 1}, func(t *testing.T, g *ground) {
		if g.shards > 1 {
			t.Skip()
		}
		var l log
		p := on(g, pool.Config[int]{OnEvent: l.add, Watch: pool.Watch{Wedged: time.Minute}})
		time.Sleep(time.Hour) // the program starts, nothing to do yet
		gate := newGate()
		first := start(func() error { return p.Do(bg, gate.pass) })
		synctest.Wait()
		second := start(func() error { return p.Do(bg, nothing) })
		time.Sleep(20 * time.Second)
		if e := l.take(); len(e) > 0 {
			t.Errorf("after 20 s of 60: %v", e)
		}
		gate.open()
		ignore(<-first)
		ignore(<-second)
		closes(t, p)
	})
}

// Law: what was reported is over, and told so, when the pool is closed.
func TestEveryEdgeHasItsEndAtAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 1}, OnEvent: l.add, Watch: pool.Watch{Queue: time.Second, Wedged: time.Minute}})
		require.NoError(t, p.Do(bg, nothing))
		gate := newGate()
		first := start(func() error { return p.Do(bg, gate.pass) })
		synctest.Wait()
		second := start(func() error { return p.Do(bg, nothing) })
		time.Sleep(time.Hour)
		gate.open()
		ignore(<-first)
		ignore(<-second)
		closes(t, p)
		time.Sleep(time.Hour)
		got := map[pool.EventKind]int{}
		for _, e := range l.take() {
			got[e.Kind]++
		}
		if got[pool.QueueSlow] != got[pool.QueueMoves] || got[pool.LaneWedged] != got[pool.LaneMoves] {
			t.Errorf("%v", got)
		}
	})
}

// Law: a shutdown waits for a look at a lane no longer than its context.
func TestAShutdownDoesNotWaitForALookThatHangs(t *testing.T) {
	l := hungStats{newMinimal("l", 1), new(atomic.Bool), make(chan struct{})}
	p := makePool(t, pool.Config[int]{Lane: l, OwnsLane: true, Watch: pool.Watch{Wedged: 100 * time.Millisecond}})
	gate := newGate()
	first := start(func() error { return p.Do(bg, gate.pass) })
	gate.await(t, 1)
	second := start(func() error { return p.Do(bg, nothing) })
	l.hang.Store(true)
	time.Sleep(100 * time.Millisecond) // the watch looks at the lane
	gate.open()
	ignore(<-first)
	ignore(<-second)
	ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
	defer cancel()
	down := start(func() error { return p.Shutdown(ctx) })
	select {
	case err := <-down:
		t.Log(err)
	case <-time.After(3 * time.Second):
		t.Error("Shutdown with 100 ms still waits after 3 s")
	}
	l.hang.Store(false)
	close(l.gate)
	_ = p.Close()
}

// Law: a call that ends when it counts as stuck was slow, and nobody left it.
func TestStuckAtTheThresholdIsSlow(t *testing.T) {
	const limit = 200 * time.Microsecond
	wrong, total := 0, 0
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 4}, Health: pool.HealthRules{Stuck: limit, Down: 1, Probe: time.Nanosecond}})
	id := adopt(t, p, 1)
	for end := time.Now().Add(time.Duration(rounds(200, 20_000)) * time.Millisecond); time.Now().Before(end); {
		_ = p.With(bg, id, func(context.Context, int) error {
			for s := time.Now(); time.Since(s) < limit+time.Duration(total%40-10)*time.Microsecond; {
			}
			return nil
		})
		total++
		err := p.With(bg, id, fails(nil))
		if _, left := errors.AsType[*ioerr.LeftError](err); left {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d refusals say that a caller has left the call; nobody did", wrong, total)
	}
	closes(t, p)
}
