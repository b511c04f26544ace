package lane

import (
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
)

// ShardedConfig makes a Sharded lane.
type ShardedConfig struct {
	// Shards is the number of gates, 1 to 64. Zero means GOMAXPROCS, at most 64.
	Shards int

	// Isolated keeps every call in its shard, so that one tenant or device that
	// hangs takes no slot of another. Otherwise shards lend each other idle slots:
	// no call is refused or left waiting while any shard has a slot to spare. A shard
	// that is busy with calls of its own has none: order, Patience and freedom from
	// starvation hold within each shard, for the slots of that shard. Once
	// the lane shuts down, each shard runs what it has accepted.
	Isolated bool

	// Config is that of each shard: the lane runs Shards x Workers calls at a
	// time. Workers zero means GOMAXPROCS / Shards, at least 1.
	Config
}

// Sharded is several gates under one name, each with slots and a queue of its
// own. A call goes to the shard of its key, else of its handle, so that calls on
// one thing keep together and in order; calls with neither go to the shards in
// turn.
type Sharded struct{ gated }

// NewSharded makes a Sharded lane. Its error is an *ioerr.ArgumentError that
// names the field, or an *ioerr.ThreadLimitError.
func NewSharded(c ShardedConfig) (*Sharded, error) {
	if c.Shards == 0 {
		c.Shards = min(procs(), lanegate.MaxGroup)
	}
	if c.Shards < 1 || c.Shards > lanegate.MaxGroup {
		return nil, &ioerr.ArgumentError{Name: "lane.ShardedConfig.Shards", Value: c.Shards, Reason: "must be 1 to 64, or 0 for the default"}
	}
	each, err := c.complete(max(procs()/c.Shards, 1))
	if err != nil {
		return nil, err
	}
	s := new(Sharded)
	if s.share, err = each.claim(c.Shards * each.Workers); err != nil {
		return nil, err
	}
	s.init(each, 0, c.Shards, c.Isolated)
	return s, nil
}

// Resize changes the number of slots of each shard, reserved ones included; see
// [Threads.Resize].
func (s *Sharded) Resize(n int) error { return s.resize(n) }
