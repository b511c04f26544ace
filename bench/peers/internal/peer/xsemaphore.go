package peer

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// xSemaphore is golang.org/x/sync/semaphore used inline: acquire, run, release.
type xSemaphore struct{ sem *semaphore.Weighted }

func xSemaphoreMaker() Maker {
	return Maker{
		Name: "x-semaphore", About: "golang.org/x/sync/semaphore used inline", Kind: Inline, Bounded: true,
		Does: Calls | Cancels | Tries, Full: errFull,
		New: func(c Config) (Peer, error) { return newXSemaphore(c), nil },
	}
}

func newXSemaphore(c Config) *xSemaphore { return &xSemaphore{semaphore.NewWeighted(int64(c.Slots))} }

// Call implements [Peer].
func (p *xSemaphore) Call(ctx context.Context, fn Func) (int, error) {
	if err := p.sem.Acquire(ctx, 1); err != nil {
		return 0, err
	}
	defer p.sem.Release(1)
	return fn(ctx)
}

// CallArg implements [Peer].
func (p *xSemaphore) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall implements [Trier].
func (p *xSemaphore) TryCall(ctx context.Context, fn Func) (int, error) {
	if !p.sem.TryAcquire(1) {
		return 0, errFull
	}
	defer p.sem.Release(1)
	return fn(ctx)
}

// Close implements [Peer].
func (*xSemaphore) Close() error { return nil }
