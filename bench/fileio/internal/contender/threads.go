package contender

import (
	"context"

	"github.com/iolane/iolane/bench/fileio/internal/work"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func threadsMaker() maker {
	return poolMaker("threads", "pool.Run on a Threads lane of as many slots as the depth", pool.Run[int64, struct{}],
		func(c lane.Config) (lane.Lane, error) { return lane.NewThreads(c) })
}

func abandoningMaker() maker {
	return poolMaker("abandoning", "pool.Offload on an Abandoning lane, likewise", pool.Offload[int64, struct{}],
		func(c lane.Config) (lane.Lane, error) {
			return lane.NewAbandoning(lane.AbandoningConfig{Config: c, CallLimit: lane.NoLimit})
		})
}

func pinnedMaker() maker {
	return poolMaker("pinned", "pool.Offload on a Pinned lane, likewise", pool.Offload[int64, struct{}],
		func(c lane.Config) (lane.Lane, error) { return lane.NewPinned(lane.PinnedConfig{Config: c}) })
}

// call is how a pool is given a call.
type call func(context.Context, *pool.Pool[struct{}], func(context.Context) (int64, error), ...pool.Option) (int64, error)

// poolMaker is for a pool on a lane whose calls block.
func poolMaker(name, about string, run call, newLane func(lane.Config) (lane.Lane, error)) maker {
	return maker{name: name, about: about, unfit: noSleeps, make: func(s setup) (engine, error) {
		l, err := newLane(lane.Config{Workers: s.Depth, Queue: max(s.Callers, 256)})
		if err != nil {
			return nil, err
		}
		p, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
		if err != nil {
			return nil, err
		}
		return &callers{mapped: mapped{s.Huge}, n: s.Callers, close: p.Close, bind: func(op *fileop.Op) func(context.Context) {
			fn := func(context.Context) (int64, error) {
				block(op)
				return op.N, op.Err
			}
			return func(ctx context.Context) { op.N, op.Err = run(ctx, p, fn) }
		}}, nil
	}}
}

// slotsOf is how many slots a lane has that needs no thread for each.
func slotsOf(c work.Case) lane.Config {
	return lane.Config{Workers: c.Slots, Threadless: true, Queue: max(c.Callers, 256)}
}
