package peer

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// group is golang.org/x/sync/errgroup with a limit. The group keeps only the first
// error and ends with it, so each call brings its own result home, and the group
// is told that all is well.
type group struct{ g errgroup.Group }

func errgroupMaker() Maker {
	return Maker{
		Name: "errgroup", About: "golang.org/x/sync/errgroup with a limit", Kind: HandOff, Bounded: true,
		Does: Calls | Tries, Full: errFull,
		New: func(c Config) (Peer, error) {
			p := new(group)
			p.g.SetLimit(c.Slots)
			return p, nil
		},
	}
}

// Call implements [Peer].
func (p *group) Call(ctx context.Context, fn Func) (int, error) {
	out := make(chan outcome, 1)
	p.g.Go(func() error {
		v, err := fn(ctx)
		out <- outcome{v, err}
		return nil
	})
	o := <-out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p *group) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall implements [Trier].
func (p *group) TryCall(ctx context.Context, fn Func) (int, error) {
	out := make(chan outcome, 1)
	if !p.g.TryGo(func() error {
		v, err := fn(ctx)
		out <- outcome{v, err}
		return nil
	}) {
		return 0, errFull
	}
	o := <-out
	return o.v, o.err
}

// Close implements [Peer].
func (p *group) Close() error { return p.g.Wait() }
