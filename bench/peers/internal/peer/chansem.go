package peer

import "context"

// chanSem is a buffered channel used as a semaphore: the idiom of Effective Go with
// the select that a context asks for.
type chanSem struct{ slots chan struct{} }

func chanSemMaker() Maker {
	return Maker{
		Name: "chan-sem", About: "a buffered channel as semaphore, used inline", Kind: Inline, Bounded: true,
		Does: Calls | Cancels | Tries, Full: errFull,
		New: func(c Config) (Peer, error) { return newChanSem(c), nil },
	}
}

func newChanSem(c Config) *chanSem { return &chanSem{make(chan struct{}, c.Slots)} }

// Call implements [Peer].
func (p *chanSem) Call(ctx context.Context, fn Func) (int, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer p.release()
	return fn(ctx)
}

func (p *chanSem) release() { <-p.slots }

// CallArg implements [Peer].
func (p *chanSem) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall implements [Trier].
func (p *chanSem) TryCall(ctx context.Context, fn Func) (int, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		return 0, errFull
	}
	defer p.release()
	return fn(ctx)
}

// Close implements [Peer].
func (*chanSem) Close() error { return nil }
