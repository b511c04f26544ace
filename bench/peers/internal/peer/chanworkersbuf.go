package peer

import "context"

// perSlot is how many tasks a buffered channel holds for each worker: enough that a
// worker finds its next task there, and not so many that making the channel is
// what a short life is spent on.
const perSlot = 16

// chanWorkersBuf is chanWorkers with a buffer, so that callers who come in a crowd
// do not block twice. Who waits in the buffer or for room in it may leave: the
// worker then skips the task. (If the worker was just about to run it, it runs all
// the same, without a caller: the price of a channel, which nothing leaves from the
// middle.)
type chanWorkersBuf struct{ chanWorkers }

func chanWorkersBufMaker() Maker {
	return Maker{
		Name: "chan-workers-buf", About: "goroutines that receive from a channel with a buffer", Kind: HandOff, Bounded: true,
		Does: Calls | Cancels,
		New: func(c Config) (Peer, error) {
			p := new(chanWorkersBuf)
			p.start(c.Slots, c.Slots*perSlot, runUnlessLeft)
			return p, nil
		},
	}
}

func runUnlessLeft(t *task) {
	if err := t.ctx.Err(); err != nil {
		t.out <- outcome{err: err}
		return
	}
	t.run()
}

// Call implements [Peer].
func (p *chanWorkersBuf) Call(ctx context.Context, fn Func) (int, error) {
	t := &task{ctx, fn, make(chan outcome, 1)}
	select {
	case p.queue <- t:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case o := <-t.out:
		return o.v, o.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// CallArg implements [Peer].
func (p *chanWorkersBuf) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}
