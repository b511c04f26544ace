package peer

import (
	"context"

	"github.com/failsafe-go/failsafe-go/bulkhead"
)

// failsafePermit is failsafe-go's bulkhead without an executor ("standalone"): as a
// semaphore.
type failsafePermit struct{ b bulkhead.Bulkhead[int] }

func failsafePermitMaker() Maker {
	return Maker{
		Name: "failsafe-permit", About: "failsafe-go, the bulkhead alone", Kind: Inline, Bounded: true,
		Does: Calls | Cancels | Tries, Full: bulkhead.ErrFull,
		New: func(c Config) (Peer, error) { return &failsafePermit{bulkhead.New[int](uint(c.Slots))}, nil },
	}
}

// Call implements [Peer].
func (p *failsafePermit) Call(ctx context.Context, fn Func) (int, error) {
	if err := p.b.AcquirePermit(ctx); err != nil {
		return 0, err
	}
	defer p.b.ReleasePermit()
	return fn(ctx)
}

// CallArg implements [Peer].
func (p *failsafePermit) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall implements [Trier].
func (p *failsafePermit) TryCall(ctx context.Context, fn Func) (int, error) {
	if !p.b.TryAcquirePermit() {
		return 0, bulkhead.ErrFull
	}
	defer p.b.ReleasePermit()
	return fn(ctx)
}

// Close implements [Peer].
func (*failsafePermit) Close() error { return nil }
