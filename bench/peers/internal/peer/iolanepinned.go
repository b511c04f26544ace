package peer

import (
	"context"
	"time"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// pinned runs every call on a thread of the lane's. Its pool is handed calls one by one;
// batches go to the lane itself.
type pinned struct {
	abandoning // makes its calls in the same way
	lane       *lane.Pinned
}

func pinnedMaker() Maker {
	m := ourMaker("iolane-pinned", "pool.Offload on a Pinned lane", nil)
	m.Kind = HandOff
	m.New = func(c Config) (Peer, error) {
		l, err := lane.NewPinned(lane.PinnedConfig{Config: laneConfig(c)})
		if err != nil {
			return nil, err
		}
		p, err := newIolane(c, pool.Config[*Resource]{Lane: l, OwnsLane: true})
		return pinned{abandoning{p}, l}, err
	}
	return m
}

// Churn implements [Churner].
func (p pinned) Churn(ctx context.Context, fn TxFunc) (v int, err error) {
	id, err := p.calls.Register(ctx, func(context.Context) (*Resource, error) { return new(Resource), nil })
	if err != nil {
		return 0, err
	}
	v, err = pool.OffloadOn(ctx, p.calls, id, fn)
	if destroyErr := p.calls.Destroy(ctx, id); err == nil {
		err = destroyErr
	}
	return v, err
}

// CallBatch implements [Batcher].
func (p pinned) CallBatch(ctx context.Context, fns []Func) error {
	all := make([]member, len(fns))
	tasks := make([]lane.Task, len(fns))
	for i, fn := range fns {
		all[i] = member{ctx: ctx, fn: fn}
		tasks[i] = &all[i]
	}
	if _, err := p.lane.CarryBatch(ctx, lane.Call{}, tasks); err != nil {
		return err
	}
	for i := range all {
		if err := all[i].err; err != nil {
			return err
		}
	}
	return nil
}

// member is one call of a batch.
type member struct {
	ctx context.Context //nolint:containedctx // a task is given none
	fn  Func
	err error
}

// Run implements [lane.Task].
func (m *member) Run(on lane.Thread) { _, m.err = m.fn(lane.WithThread(m.ctx, on)) }

// Ending implements [lane.Task].
func (m *member) Ending(error) {}

// Left implements [lane.Task].
func (m *member) Left(time.Duration) {}

// End implements [lane.Task].
func (m *member) End(bool, error) {}
