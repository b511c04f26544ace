package peer

import (
	"context"

	"github.com/sourcegraph/conc/pool"
)

// concPool is sourcegraph/conc's pool with a maximum of goroutines. Its own results
// are for the pool as a whole and come at its end, so each call has a channel.
type concPool struct{ pool *pool.Pool }

func concMaker() Maker {
	return Maker{
		Name: "conc", About: "sourcegraph/conc, pool with a maximum", Kind: HandOff, Bounded: true,
		Does: Calls,
		New:  func(c Config) (Peer, error) { return &concPool{pool.New().WithMaxGoroutines(c.Slots)}, nil },
	}
}

// Call implements [Peer].
func (p *concPool) Call(ctx context.Context, fn Func) (int, error) {
	out := make(chan outcome, 1)
	p.pool.Go(func() {
		v, err := fn(ctx)
		out <- outcome{v, err}
	})
	o := <-out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p *concPool) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// Close implements [Peer].
func (p *concPool) Close() error {
	p.pool.Wait()
	return nil
}
