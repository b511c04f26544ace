package pool_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// replaceWaits makes a pool with a handle that is probed, and a Replace that waits for that.
func replaceWaits(t *testing.T, opts ...pool.Option) (p *pool.Pool[int], id handle.ID, gate *gate, replaced <-chan error) {
	gate = newGate()
	p = makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 2}, HookWithin: time.Minute,
		Health: pool.HealthRules{Bad: func(error) bool { return true }, Down: 1, Probe: time.Second},
		Check:  func(int) error { gate.stay(); return errIO }})
	id = adopt(t, p, 1)
	require.Error(t, p.With(bg, id, fails(errIO)))
	time.Sleep(2 * time.Second)
	require.Equal(t, pool.Probing, p.Health(id))
	replaced = start(func() error {
		return p.Replace(bg, id, func(context.Context, int) (int, error) { return 2, nil }, opts...)
	})
	synctest.Wait()
	return
}

// slowErr is a context that calls left when it is asked for its end.
type slowErr struct {
	context.Context
	left func()
}

func (c slowErr) Err() error {
	err := c.Context.Err()
	if err != nil {
		c.left()
	}
	return err
}

// spoiling is a user's carrier on which something goes wrong after each call.
type spoiling struct {
	*minimal
	dedicated bool
	leaves    bool
}

func (c spoiling) Carry(ctx context.Context, lc lane.Call, t lane.Task) error {
	s, err := c.Enter(ctx, lc)
	if err != nil {
		return err
	}
	if c.leaves {
		t.Left(0)
		go func() { t.Run(lane.Thread{}); c.Leave(s); t.End(true, nil) }()
		return &ioerr.LeftError{Age: 1}
	}
	t.Run(lane.Thread{})
	c.Leave(s)
	t.End(false, errIO)
	return nil
}

func (c spoiling) GiveUp(uint64, error) {}

func (c spoiling) Capabilities() lane.Capabilities {
	return lane.Capabilities{DedicatedThreads: c.dedicated, Execution: lane.Abandons}
}

// discard is nobody who reads.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// hungStats is a user's lane whose Stats hang.
type hungStats struct {
	*minimal
	hang *atomic.Bool
	gate chan struct{}
}

func (h hungStats) Stats() lane.Stats {
	if h.hang.Load() {
		<-h.gate
	}
	return h.minimal.Stats()
}

// panicErr is a context that panics when it is asked for its end.
type panicErr struct{ context.Context }

func (c panicErr) Err() error {
	if c.Context.Err() != nil {
		panic("ctx")
	}
	return nil
}
