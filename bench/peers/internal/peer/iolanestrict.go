package peer

import (
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// strictMaker lets nobody be overtaken: neither in the lane nor at a handle.
func strictMaker() Maker {
	return ourMaker("iolane-strict", "pool.Run on a Threads lane, strictly first come, first served",
		func(c Config) (pool.Config[*Resource], error) {
			lc := laneConfig(c)
			lc.Patience = lane.Strict
			return pool.Config[*Resource]{Threads: lc, Patience: lane.Strict}, nil
		})
}
