package peer

import (
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// ringMaker is the lane for file operations, which does calls on threads.
func ringMaker() Maker {
	return ourMaker("iolane-ring", "pool.Run on a Ring lane: the calls that need a thread",
		func(c Config) (pool.Config[*Resource], error) {
			l, err := lane.NewRing(lane.RingConfig{Config: laneConfig(c), Threads: c.Slots})
			return pool.Config[*Resource]{Lane: l, OwnsLane: true}, err
		})
}
