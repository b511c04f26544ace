package peer

import "context"

// mutexChanSem is mutexSemaphore with a channel for the bound.
type mutexChanSem struct {
	*chanSem
	locks []lockedResource
}

func mutexChanSemMaker() Maker {
	return Maker{
		Name: "mutex-chan-sem", About: "a mutex for each resource, and a channel as semaphore", Kind: Inline, Bounded: true,
		Does: Transacts,
		New: func(c Config) (Peer, error) {
			return &mutexChanSem{newChanSem(c), make([]lockedResource, c.Resources)}, nil
		},
	}
}

// Transact implements [Transactor].
func (p *mutexChanSem) Transact(ctx context.Context, i int, fn TxFunc) (int, error) {
	r := &p.locks[i]
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer p.release()
	return fn(ctx, &r.Resource)
}
