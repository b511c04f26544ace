package peer

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
)

// forever is longer than anybody waits here. A bulkhead of an executor refuses at
// once unless it is told how long to wait.
const forever = time.Hour

// failsafeExecutor is failsafe-go's bulkhead as its manual uses it: as a policy of
// an executor, which takes the context of each execution from a copy of itself.
type failsafeExecutor struct{ executor failsafe.Executor[int] }

func failsafeMaker() Maker {
	return Maker{
		Name: "failsafe", About: "failsafe-go, executor with a bulkhead", Kind: Inline, Bounded: true,
		Does: Calls | Cancels | Tries, Full: bulkhead.ErrFull,
		New: func(c Config) (Peer, error) {
			b := bulkhead.NewBuilder[int](uint(c.Slots))
			if !c.Refuse {
				b = b.WithMaxWaitTime(forever)
			}
			return &failsafeExecutor{failsafe.With(b.Build())}, nil
		},
	}
}

// Call implements [Peer].
func (p *failsafeExecutor) Call(ctx context.Context, fn Func) (int, error) {
	return p.executor.WithContext(ctx).Get(func() (int, error) { return fn(ctx) })
}

// CallArg implements [Peer].
func (p *failsafeExecutor) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.executor.WithContext(ctx).Get(func() (int, error) { return fn(ctx, arg) })
}

// TryCall needs a bulkhead that was made not to wait.
func (p *failsafeExecutor) TryCall(ctx context.Context, fn Func) (int, error) { return p.Call(ctx, fn) }

// Close implements [Peer].
func (*failsafeExecutor) Close() error { return nil }
