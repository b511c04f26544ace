package peer

import "context"

// goroutine starts one for each call, unbounded, and waits for it. The channel has
// room for the result, as every text on the matter advises.
type goroutine struct{}

func goroutineMaker() Maker {
	return Maker{
		Name: "goroutine", About: "a goroutine for each call, unbounded", Kind: HandOff, Does: Calls,
		New: func(Config) (Peer, error) { return goroutine{}, nil },
	}
}

// Call implements [Peer].
func (goroutine) Call(ctx context.Context, fn Func) (int, error) {
	out := make(chan outcome, 1)
	go func() {
		v, err := fn(ctx)
		out <- outcome{v, err}
	}()
	o := <-out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p goroutine) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// Close implements [Peer].
func (goroutine) Close() error { return nil }
