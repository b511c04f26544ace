package peer

import (
	"context"

	"github.com/gammazero/workerpool"
)

// gammazero is gammazero/workerpool: a dispatcher with a queue without a bound,
// and a call that waits. Results come back in captured variables.
type gammazero struct{ pool *workerpool.WorkerPool }

func workerpoolMaker() Maker {
	return Maker{
		Name: "workerpool", About: "gammazero/workerpool, DoWait", Kind: HandOff, Bounded: true,
		Does: Calls | Drains,
		New:  func(c Config) (Peer, error) { return &gammazero{workerpool.New(c.Slots)}, nil },
	}
}

// Call implements [Peer].
func (p *gammazero) Call(ctx context.Context, fn Func) (v int, err error) {
	if refused := p.pool.DoWait(func() { v, err = fn(ctx) }); refused != nil {
		return 0, refused
	}
	return v, err
}

// CallArg implements [Peer].
func (p *gammazero) CallArg(ctx context.Context, fn ArgFunc, arg int) (v int, err error) {
	if refused := p.pool.DoWait(func() { v, err = fn(ctx, arg) }); refused != nil {
		return 0, refused
	}
	return v, err
}

// Close implements [Peer].
func (p *gammazero) Close() error {
	p.pool.StopWait()
	return nil
}
