package peer

import (
	"context"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// abandoning makes every call one that its caller may leave.
type abandoning struct{ *iolane }

func abandoningMaker() Maker {
	m := ourMaker("iolane-abandoning", "pool.Offload on an Abandoning lane", nil)
	m.Kind = HandOff
	m.New = func(c Config) (Peer, error) {
		l, err := lane.NewAbandoning(lane.AbandoningConfig{Config: laneConfig(c)})
		if err != nil {
			return nil, err
		}
		p, err := newIolane(c, pool.Config[*Resource]{Lane: l, OwnsLane: true})
		return abandoning{p}, err
	}
	return m
}

// Call implements [Peer].
func (p abandoning) Call(ctx context.Context, fn Func) (int, error) {
	return pool.Offload(ctx, p.calls, fn)
}

// CallArg implements [Peer].
func (p abandoning) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return pool.Offload(ctx, p.calls, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall implements [Trier].
func (p abandoning) TryCall(ctx context.Context, fn Func) (int, error) {
	return pool.Offload(ctx, p.calls, fn)
}

// Transact implements [Transactor].
func (p abandoning) Transact(ctx context.Context, i int, fn TxFunc) (int, error) {
	return pool.OffloadOn(ctx, p.calls, p.ids[i], fn)
}
