package lane_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lane/lanetest"
)

func TestThreadsKeepsTheLaws(t *testing.T) {
	for name, change := range map[string]func(*lane.Config){
		"as asked":      func(*lane.Config) {},
		"one worker":    func(c *lane.Config) { c.Workers = 1 },
		"four workers":  func(c *lane.Config) { c.Workers = 4 },
		"strict":        func(c *lane.Config) { c.Patience = lane.Strict },
		"no patience":   func(c *lane.Config) { c.Patience = min(c.Patience, time.Nanosecond) },
		"with reserve":  func(c *lane.Config) { c.Workers++; c.Reserved = 1 },
		"with events":   func(c *lane.Config) { c.OnEvent = func(lane.Event) {} },
		"with key gate": func(c *lane.Config) { c.PerKey = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
				change(&c)
				l, err := lane.NewThreads(c)
				require.NoError(t, err)
				return l
			}, lanetest.Options{Slots: func(c lane.Config) int {
				change(&c)
				return c.Workers - c.Reserved
			}})
		})
	}
}

func TestThreadsKeepsTheLawsInRealTime(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		l, err := lane.NewThreads(c)
		require.NoError(t, err)
		return l
	}, lanetest.Options{RealTime: true})
}

func TestThreadsWithoutAQueueKeepsTheLaws(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		l, err := lane.NewThreads(c)
		require.NoError(t, err)
		return l
	}, lanetest.Options{NoQueue: true})
}

func TestThreadsWithoutWaitersKeepsTheLaws(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		l, err := lane.NewThreads(c)
		require.NoError(t, err)
		return l
	}, lanetest.Options{NoWaiters: true})
}

func TestAbandoningKeepsTheLaws(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: c})
		require.NoError(t, err)
		return l
	}, lanetest.Options{})
}

func TestInlineKeepsTheLaws(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		return lane.NewInline(c.Name)
	}, lanetest.Options{Unbounded: true})
}

// oneShard sends every call to the same shard, so that the bounds of one queue are
// those of the lane.
type oneShard struct{ *lane.Sharded }

func (l oneShard) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	c.Handle = 42
	return l.Sharded.Enter(ctx, c)
}

func (l oneShard) Try() (lane.Slot, bool) { return lane.Slot{}, false }

func TestEachShardKeepsTheLaws(t *testing.T) {
	for _, shards := range []int{1, 2, 16} {
		for _, isolated := range []bool{false, true} {
			for _, patience := range []time.Duration{0, lane.Strict} {
				t.Run(fmt.Sprintf("shards=%d,isolated=%v,patience=%d", shards, isolated, patience), func(t *testing.T) {
					lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
						if c.Patience == 0 {
							c.Patience = patience
						}
						l, err := lane.NewSharded(lane.ShardedConfig{Shards: shards, Isolated: isolated, Config: c})
						require.NoError(t, err)
						return oneShard{l}
					}, lanetest.Options{Slots: func(c lane.Config) int {
						if isolated {
							return c.Workers
						}
						return c.Workers * shards
					}})
				})
			}
		}
	}
}

func TestShardedAsAWholeKeepsTheLawsOfALaneWithoutAQueue(t *testing.T) {
	for _, shards := range []int{1, 2, 16} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
				l, err := lane.NewSharded(lane.ShardedConfig{Shards: shards, Config: c})
				require.NoError(t, err)
				return l
			}, lanetest.Options{NoQueue: true, Slots: func(c lane.Config) int { return c.Workers * shards }})
		})
	}
}

// A call of a Pinned lane comes by Carry; so may one of Abandoning.
func TestPinnedKeepsTheLaws(t *testing.T) {
	for name, change := range map[string]func(*lane.PinnedConfig){
		"as asked":     func(*lane.PinnedConfig) {},
		"one worker":   func(c *lane.PinnedConfig) { c.Workers = 1 },
		"strict":       func(c *lane.PinnedConfig) { c.Patience = lane.Strict },
		"with reserve": func(c *lane.PinnedConfig) { c.Workers++; c.Reserved = 1 },
		"with hooks": func(c *lane.PinnedConfig) {
			c.Start, c.Stop = func(int) error { return nil }, func(int) {}
		},
		"keeping threads": func(c *lane.PinnedConfig) { c.Keep = 100 },
	} {
		t.Run(name, func(t *testing.T) {
			lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
				pc := lane.PinnedConfig{Config: c}
				change(&pc)
				l, err := lane.NewPinned(pc)
				require.NoError(t, err)
				return l
			}, lanetest.Options{Carry: true, Slots: func(c lane.Config) int {
				pc := lane.PinnedConfig{Config: c}
				change(&pc)
				return pc.Workers - pc.Reserved
			}})
		})
	}
}

func TestPinnedKeepsTheLawsWithoutARoomToWait(t *testing.T) {
	for name, o := range map[string]lanetest.Options{
		"in real time":    {Carry: true, RealTime: true},
		"without a queue": {Carry: true, NoQueue: true},
		"without waiters": {Carry: true, NoWaiters: true},
	} {
		t.Run(name, func(t *testing.T) {
			lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
				l, err := lane.NewPinned(lane.PinnedConfig{Config: c})
				require.NoError(t, err)
				return l
			}, o)
		})
	}
}

func TestAbandoningKeepsTheLawsOfCallsThatItCarries(t *testing.T) {
	lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: c, CallLimit: lane.NoLimit})
		require.NoError(t, err)
		return l
	}, lanetest.Options{Carry: true})
}
