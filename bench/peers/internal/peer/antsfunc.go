package peer

import (
	"context"

	"github.com/panjf2000/ants/v2"
)

// antsFunc is panjf2000/ants with one function for all calls, which get to it as
// arguments. These and their channels are pooled: whoever takes the trouble to use
// this form does so for the sake of its allocations.
type antsFunc struct {
	pool *ants.PoolWithFuncGeneric[*task]
	tasks
}

func antsFuncMaker() Maker {
	return Maker{
		Name: "ants-func", About: "panjf2000/ants v2, PoolWithFuncGeneric with pooled arguments", Kind: HandOff, Bounded: true,
		Does: Calls | Tries | Drains, Full: ants.ErrPoolOverload,
		New: func(c Config) (Peer, error) {
			p, err := ants.NewPoolWithFuncGeneric(c.Slots, (*task).run, ants.WithNonblocking(c.Refuse))
			return &antsFunc{pool: p}, err
		},
	}
}

// Call implements [Peer].
func (p *antsFunc) Call(ctx context.Context, fn Func) (int, error) {
	t := p.get(ctx, fn)
	defer p.put(t)
	if err := p.pool.Invoke(t); err != nil {
		return 0, err
	}
	o := <-t.out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p *antsFunc) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall needs a pool that was made not to block.
func (p *antsFunc) TryCall(ctx context.Context, fn Func) (int, error) { return p.Call(ctx, fn) }

// Close is that of ants, see there.
func (p *antsFunc) Close() error {
	p.pool.Release()
	return nil
}
