package peer

import (
	"context"

	"github.com/alitto/pond/v2"
)

// pondPool is alitto/pond with results: a future for each call, and a queue without
// a bound. A single task cannot be taken back, so the context only goes to the call.
type pondPool struct{ pool pond.ResultPool[int] }

func pondMaker() Maker {
	return Maker{
		Name: "pond", About: "alitto/pond v2, ResultPool", Kind: HandOff, Bounded: true,
		Does: Calls | Tries | Drains, Full: pond.ErrQueueFull,
		New: func(c Config) (Peer, error) {
			if c.Refuse {
				return &pondPool{pond.NewResultPool[int](c.Slots, pond.WithQueueSize(0))}, nil
			}
			return &pondPool{pond.NewResultPool[int](c.Slots)}, nil
		},
	}
}

// Call implements [Peer].
func (p *pondPool) Call(ctx context.Context, fn Func) (int, error) {
	return p.pool.SubmitErr(func() (int, error) { return fn(ctx) }).Wait()
}

// CallArg implements [Peer].
func (p *pondPool) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.pool.SubmitErr(func() (int, error) { return fn(ctx, arg) }).Wait()
}

// TryCall needs a pool that was made without a queue. The future of a refused task
// holds the reason.
func (p *pondPool) TryCall(ctx context.Context, fn Func) (int, error) {
	future, _ := p.pool.TrySubmitErr(func() (int, error) { return fn(ctx) })
	return future.Wait()
}

// Close implements [Peer].
func (p *pondPool) Close() error {
	p.pool.StopAndWait()
	return nil
}
