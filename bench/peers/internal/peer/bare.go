package peer

import "context"

// bare is no executor at all: the call runs on the caller's goroutine, and nothing
// bounds how many do. It is the floor of every shape, and what shapes with many
// callers call "unbounded goroutines".
type bare struct{}

func bareMaker() Maker {
	return Maker{
		Name: "bare", About: "the call itself, unbounded", Kind: Inline, Does: Calls,
		New: func(Config) (Peer, error) { return bare{}, nil },
	}
}

// Call implements [Peer].
func (bare) Call(ctx context.Context, fn Func) (int, error) { return fn(ctx) }

// CallArg implements [Peer].
func (bare) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	call := func() (int, error) { return fn(ctx, arg) }
	return call()
}

// Close implements [Peer].
func (bare) Close() error { return nil }
