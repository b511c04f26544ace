package peer

import (
	"context"

	"github.com/panjf2000/ants/v2"
)

// antsPool is panjf2000/ants with a function for each call. ants returns no
// results; a channel of the call's own does.
type antsPool struct{ pool *ants.Pool }

func antsMaker() Maker {
	return Maker{
		Name: "ants", About: "panjf2000/ants v2, Submit", Kind: HandOff, Bounded: true,
		Does: Calls | Tries | Drains, Full: ants.ErrPoolOverload,
		New: func(c Config) (Peer, error) {
			p, err := ants.NewPool(c.Slots, ants.WithNonblocking(c.Refuse))
			return &antsPool{p}, err
		},
	}
}

// Call implements [Peer].
func (p *antsPool) Call(ctx context.Context, fn Func) (int, error) {
	out := make(chan outcome, 1)
	err := p.pool.Submit(func() {
		v, err := fn(ctx)
		out <- outcome{v, err}
	})
	if err != nil {
		return 0, err
	}
	o := <-out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p *antsPool) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall needs a pool that was made not to block.
func (p *antsPool) TryCall(ctx context.Context, fn Func) (int, error) { return p.Call(ctx, fn) }

// Close is what the manual ends with. It does not wait for the workers; the form that
// does (ReleaseContext) spins until the last goroutine of the pool has gone, and
// costs ten times as much and more.
func (p *antsPool) Close() error {
	p.pool.Release()
	return nil
}
