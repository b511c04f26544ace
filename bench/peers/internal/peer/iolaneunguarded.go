package peer

import "github.com/iolane/iolane/pool"

// unguardedMaker gives calls their caller's context as it is.
func unguardedMaker() Maker {
	return ourMaker("iolane-unguarded", "a Threads lane without the re-entry guard",
		func(c Config) (pool.Config[*Resource], error) {
			return pool.Config[*Resource]{Threads: laneConfig(c), Unguarded: true}, nil
		})
}
