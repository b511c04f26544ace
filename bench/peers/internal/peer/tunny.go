package peer

import (
	"context"

	"github.com/Jeffail/tunny"
)

// tunnyPool is Jeffail/tunny with one function for all calls and the context-aware
// Process. Payload and result are interfaces, so both are boxed: the payload as a
// pointer, and the result inside it, which saves the second box.
type tunnyPool struct{ pool *tunny.Pool }

// payload is a call for tunny, and what came of it.
type payload struct {
	ctx context.Context //nolint:containedctx // it goes with its call from the caller to the worker
	fn  Func
	outcome
}

func tunnyMaker() Maker {
	return Maker{
		Name: "tunny", About: "Jeffail/tunny, ProcessCtx", Kind: HandOff, Bounded: true,
		Does: Calls | Cancels | Drains,
		New: func(c Config) (Peer, error) {
			return &tunnyPool{tunny.NewFunc(c.Slots, func(p any) any {
				call, _ := p.(*payload)
				call.v, call.err = call.fn(call.ctx)
				return nil
			})}, nil
		},
	}
}

// Call implements [Peer].
func (p *tunnyPool) Call(ctx context.Context, fn Func) (int, error) {
	call := &payload{ctx: ctx, fn: fn}
	if _, err := p.pool.ProcessCtx(ctx, call); err != nil {
		return 0, err // the worker may still be at the call
	}
	return call.v, call.err
}

// CallArg implements [Peer].
func (p *tunnyPool) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// Close implements [Peer].
func (p *tunnyPool) Close() error {
	p.pool.Close()
	return nil
}
