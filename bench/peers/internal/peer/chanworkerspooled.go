package peer

import "context"

// chanWorkersPooled is a channel of workers with everything that makes it fast: a
// buffer, and tasks that are pooled together with the channels of their results.
// The price is that a caller whose task is in the buffer stays until it has run,
// since a task that somebody will still answer cannot go back to the pool.
type chanWorkersPooled struct {
	chanWorkers
	tasks
}

func chanWorkersPooledMaker() Maker {
	return Maker{
		Name: "chan-workers-pooled", About: "goroutines on a channel with a buffer, pooled tasks and result channels", Kind: HandOff, Bounded: true,
		Does: Calls,
		New: func(c Config) (Peer, error) {
			p := new(chanWorkersPooled)
			p.start(c.Slots, c.Slots*perSlot, (*task).run)
			return p, nil
		},
	}
}

// Call implements [Peer].
func (p *chanWorkersPooled) Call(ctx context.Context, fn Func) (int, error) {
	t := p.get(ctx, fn)
	defer p.put(t)
	select {
	case p.queue <- t:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	o := <-t.out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p *chanWorkersPooled) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}
