package peer

import (
	"context"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// iolane is a pool of this project on one of its lanes.
type iolane struct {
	calls *pool.Pool[*Resource]
	ids   []handle.ID // of the resources
}

// oursCan is what every bounded lane of ours can do.
const oursCan = Calls | Cancels | Tries | Transacts | Churns | Drains

// ourMaker makes a Maker from how the configuration of its pool is made.
func ourMaker(name, about string, configure func(Config) (pool.Config[*Resource], error)) Maker {
	return Maker{
		Name: name, About: about, Kind: Inline, Bounded: true, Ours: true, Does: oursCan, Full: ioerr.ErrQueueFull,
		New: func(c Config) (Peer, error) {
			pc, err := configure(c)
			if err != nil {
				return nil, err
			}
			return newIolane(c, pc)
		},
	}
}

// newIolane makes the pool and hands it its resources. A handle has room for every
// caller to wait.
func newIolane(c Config, pc pool.Config[*Resource]) (*iolane, error) {
	if c.Resources > 0 {
		pc.Waiters = max(c.Callers, defaultWaiters)
	}
	calls, err := pool.New(pc)
	if err != nil {
		return nil, err
	}
	p := &iolane{calls: calls}
	for range c.Resources {
		id, err := calls.Adopt(new(Resource))
		if err != nil {
			return nil, err
		}
		p.ids = append(p.ids, id)
	}
	return p, nil
}

// The defaults of the library; a peer gets more if there are more callers.
const (
	defaultQueue   = 256
	defaultWaiters = 64
)

// laneConfig has a queue with room for every caller, or none if the lane is to
// refuse.
func laneConfig(c Config) lane.Config {
	if c.Refuse {
		return lane.Config{Workers: c.Slots, Queue: lane.NoQueue, Policy: lane.FailFast}
	}
	return lane.Config{Workers: c.Slots, Queue: max(c.Callers, defaultQueue)}
}

// Call implements [Peer].
func (p *iolane) Call(ctx context.Context, fn Func) (int, error) { return pool.Run(ctx, p.calls, fn) }

// CallArg implements [Peer].
func (p *iolane) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return pool.Run(ctx, p.calls, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall needs a lane that was made to fail fast.
func (p *iolane) TryCall(ctx context.Context, fn Func) (int, error) {
	return pool.Run(ctx, p.calls, fn)
}

// Transact implements [Transactor].
func (p *iolane) Transact(ctx context.Context, i int, fn TxFunc) (int, error) {
	return pool.Transact(ctx, p.calls, p.ids[i], fn)
}

// Churn implements [Churner].
func (p *iolane) Churn(ctx context.Context, fn TxFunc) (v int, err error) {
	id, err := p.calls.Register(ctx, func(context.Context) (*Resource, error) { return new(Resource), nil })
	if err != nil {
		return 0, err
	}
	v, err = pool.Transact(ctx, p.calls, id, fn)
	if destroyErr := p.calls.Destroy(ctx, id); err == nil {
		err = destroyErr
	}
	return v, err
}

// Close implements [Peer].
func (p *iolane) Close() error { return p.calls.Close() }
