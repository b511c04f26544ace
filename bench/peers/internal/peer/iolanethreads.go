package peer

import "github.com/iolane/iolane/pool"

// threadsMaker is the default: a pool that makes its own Threads lane.
func threadsMaker() Maker {
	return ourMaker("iolane", "pool.Run on a Threads lane with default patience",
		func(c Config) (pool.Config[*Resource], error) {
			return pool.Config[*Resource]{Threads: laneConfig(c)}, nil
		})
}
