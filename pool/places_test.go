package pool_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// place is one way to give a pool its lane. The laws of a pool hold in all of
// them, so their tests run over the whole table.
type place struct {
	name    string
	shared  bool // the pool does not own the lane
	bounded bool // there are slots to run out of
	gated   bool // the lane is lane.Gated: it has a queue with bounds, and can evict
	driven  bool // a Ring: it has a goroutine of its own until it is shut down, and Reserved is for operations
	shards  int
	make    func(c lane.Config) (lane.Lane, error) // nil: the pool makes its own
}

var places = []place{
	{name: "threads of its own", bounded: true, gated: true, shards: 1},
	{name: "threads shared", shared: true, bounded: true, gated: true, shards: 1, make: threads},
	{name: "sharded lending", bounded: true, gated: true, shards: 2, make: sharded(false)},
	{name: "sharded isolated", bounded: true, gated: true, shards: 2, make: sharded(true)},
	{name: "sharded shared", shared: true, bounded: true, gated: true, shards: 2, make: sharded(false)},
	{name: "inline", gated: true, shards: 1, make: inline},
	{name: "inline shared", shared: true, gated: true, shards: 1, make: inline},
	{name: "abandoning", bounded: true, gated: true, shards: 1, make: abandoning},
	{name: "abandoning shared", shared: true, bounded: true, gated: true, shards: 1, make: abandoning},
	{name: "ring", bounded: true, gated: true, driven: true, shards: 1, make: ring},
	{name: "a user's", shared: true, bounded: true, shards: 1, make: users},
	{name: "a user's, owned", bounded: true, shards: 1, make: users},
}

func threads(c lane.Config) (lane.Lane, error) { return lane.NewThreads(c) }

func sharded(isolated bool) func(lane.Config) (lane.Lane, error) {
	return func(c lane.Config) (lane.Lane, error) {
		return lane.NewSharded(lane.ShardedConfig{Shards: 2, Isolated: isolated, Config: c})
	}
}

func abandoning(c lane.Config) (lane.Lane, error) {
	// In the laws that hold everywhere nobody leaves; those of leaving have tests of their own.
	return lane.NewAbandoning(lane.AbandoningConfig{Config: c, CallLimit: lane.NoLimit, Grace: 10_000 * time.Hour})
}

// ringed is a Ring for the tests of calls, which need a thread: its figures are those of these.
// It does no operations: the sleeps of a kernel's ring take no notice of a bubble's time.
type ringed struct{ lane.Gated }

func (r ringed) Stats() lane.Stats {
	s := r.Gated.Stats()
	calls := s.Shards[1]
	calls.Name = s.Name
	return calls
}

// ring makes a Ring, which is one without a ring where the system denies it.
func ring(c lane.Config) (lane.Lane, error) {
	l, err := lane.NewRing(lane.RingConfig{Config: c, Threads: c.Workers, Required: os.Getenv(needVar) != ""})
	return ringed{l}, err
}

// needVar makes the tests fail where there is no ring.
const needVar = "IOLANE_NEED_RING"

func inline(c lane.Config) (lane.Lane, error) { return lane.NewInline(c.Name), nil }

func users(c lane.Config) (lane.Lane, error) { return newMinimal(c.Name, c.Workers), nil }

// ground is a place in use.
type ground struct {
	place
	t     testing.TB
	lane  lane.Lane   // nil if the pool makes its own
	conf  lane.Config // of each shard
	slots int
}

const laneName = "l"

// settle makes the lane of a place; workers are those of each shard.
func (pl place) settle(t testing.TB, c lane.Config) *ground {
	t.Helper()
	c.Name = laneName
	g := &ground{place: pl, t: t, conf: c, slots: c.Workers * pl.shards}
	if pl.make != nil {
		var err error
		g.lane, err = pl.make(c)
		require.NoError(t, err)
	}
	if pl.driven { // a law that uses no pool leaves it as it is
		t.Cleanup(func() { require.NoError(t, g.lane.Shutdown(context.Background())) })
	}
	return g
}

// pool makes a pool on the ground.
func on[R any](g *ground, c pool.Config[R]) *pool.Pool[R] {
	g.t.Helper()
	if g.lane == nil {
		c.Threads = g.conf
	} else {
		c.Lane, c.OwnsLane = g.lane, !g.shared
	}
	return makePool(g.t, c)
}

// need says which places a law is about.
type need struct {
	bounded, gated, shared bool
	reserved               bool // slots for urgent calls that no others may use
}

// everywhere tests a law in all places that it is about, in a bubble. The lane
// has one worker (each shard), unless the law asks for others.
func everywhere(t *testing.T, n need, c lane.Config, law func(t *testing.T, g *ground)) {
	t.Helper()
	if c.Workers == 0 {
		c.Workers = 1
	}
	for _, pl := range places {
		if n.bounded && !pl.bounded || n.gated && !pl.gated || n.shared && !pl.shared || n.reserved && pl.driven {
			continue
		}
		t.Run(pl.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { law(t, pl.settle(t, c)) })
		})
	}
}

// fill takes all slots of the lane. The gate that it returns gives them back.
func fill[R any](t testing.TB, g *ground, p *pool.Pool[R]) *gate {
	t.Helper()
	return fillBut(t, g, p, 0)
}

// fillBut leaves some slots free.
func fillBut[R any](t testing.TB, g *ground, p *pool.Pool[R], free int) *gate {
	t.Helper()
	full := newGate()
	for range g.slots - free {
		spawn(t, func() error { return p.Do(bg, full.pass) })
		synctest.Wait()
	}
	if got := p.Stats().Lane.Running; got != g.slots-free {
		t.Fatalf("%d calls run, want %d of %d slots taken", got, g.slots-free, g.slots)
	}
	return full
}
