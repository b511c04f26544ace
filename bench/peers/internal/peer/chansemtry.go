package peer

import "context"

// chanSemTry is chanSem by somebody who has read the runtime: a select of one case
// and a default is cheaper than one of two cases, so that comes first.
type chanSemTry struct{ chanSem }

func chanSemTryMaker() Maker {
	return Maker{
		Name: "chan-sem-try", About: "a buffered channel as semaphore, tried without waiting first", Kind: Inline, Bounded: true,
		Does: Calls | Cancels | Tries, Full: errFull,
		New: func(c Config) (Peer, error) { return &chanSemTry{*newChanSem(c)}, nil },
	}
}

// Call implements [Peer].
func (p *chanSemTry) Call(ctx context.Context, fn Func) (int, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	defer p.release()
	return fn(ctx)
}

// CallArg implements [Peer].
func (p *chanSemTry) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}
