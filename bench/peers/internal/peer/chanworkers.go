package peer

import (
	"context"
	"sync"
)

// chanWorkers is what the tutorials build: as many goroutines as slots receive from
// one channel without a buffer. The channel on which a result comes back is made
// for each call. Who waits for a worker may leave; who has got one stays.
type chanWorkers struct {
	queue chan *task
	wg    sync.WaitGroup
}

func chanWorkersMaker() Maker {
	return Maker{
		Name: "chan-workers", About: "goroutines that receive from a channel, unbuffered", Kind: HandOff, Bounded: true,
		Does: Calls | Cancels | Tries, Full: errFull,
		New: func(c Config) (Peer, error) {
			p := new(chanWorkers)
			p.start(c.Slots, 0, (*task).run)
			return p, nil
		},
	}
}

func (p *chanWorkers) start(n, buffer int, run func(*task)) {
	p.queue = make(chan *task, buffer)
	for range n {
		p.wg.Go(func() {
			for t := range p.queue {
				run(t)
			}
		})
	}
}

// Call implements [Peer].
func (p *chanWorkers) Call(ctx context.Context, fn Func) (int, error) {
	t := &task{ctx, fn, make(chan outcome, 1)}
	select {
	case p.queue <- t:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	o := <-t.out
	return o.v, o.err
}

// CallArg implements [Peer].
func (p *chanWorkers) CallArg(ctx context.Context, fn ArgFunc, arg int) (int, error) {
	return p.Call(ctx, func(ctx context.Context) (int, error) { return fn(ctx, arg) })
}

// TryCall finds a worker if one waits at the channel. For a moment after its call
// a worker does not wait there yet, although its slot is free.
func (p *chanWorkers) TryCall(ctx context.Context, fn Func) (int, error) {
	t := &task{ctx, fn, make(chan outcome, 1)}
	select {
	case p.queue <- t:
	default:
		return 0, errFull
	}
	o := <-t.out
	return o.v, o.err
}

// Close implements [Peer].
func (p *chanWorkers) Close() error {
	close(p.queue)
	p.wg.Wait()
	return nil
}
