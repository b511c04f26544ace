package peer

import (
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// maxShards is lane.ShardedConfig's.
const maxShards = 64

// shardedMaker has a shard for each slot. Each has room for every caller, since
// transactions on one resource all go to one shard.
func shardedMaker() Maker {
	return ourMaker("iolane-sharded", "pool.Run on a Sharded lane, a shard for each slot",
		func(c Config) (pool.Config[*Resource], error) {
			sc := lane.ShardedConfig{Shards: min(c.Slots, maxShards), Config: laneConfig(c)}
			sc.Workers = c.Slots / sc.Shards
			l, err := lane.NewSharded(sc)
			return pool.Config[*Resource]{Lane: l, OwnsLane: true}, err
		})
}
