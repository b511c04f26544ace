package peer

import (
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// inlineMaker is the lane without a bound: what the rest of a pool costs.
func inlineMaker() Maker {
	m := ourMaker("iolane-inline", "pool.Run on the Inline lane, unbounded",
		func(Config) (pool.Config[*Resource], error) {
			return pool.Config[*Resource]{Lane: lane.NewInline(""), OwnsLane: true}, nil
		})
	m.Bounded = false
	m.Does = Calls | Transacts | Churns
	m.Full = nil
	return m
}
