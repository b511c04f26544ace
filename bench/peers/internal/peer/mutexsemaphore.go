package peer

import (
	"context"
	"sync"
)

// mutexSemaphore is what a program has that guards its resources by a mutex each
// and bounds its calls by golang.org/x/sync/semaphore. The mutex comes first, so
// that nobody holds a slot while he waits for a resource. (He who waits for a mutex
// cannot leave when his context ends.)
type mutexSemaphore struct {
	*xSemaphore
	locks []lockedResource

	mu   sync.Mutex // guards what Churn takes in
	last int
	more map[int]*lockedResource
}

func mutexSemaphoreMaker() Maker {
	return Maker{
		Name: "mutex-semaphore", About: "a mutex for each resource, and golang.org/x/sync/semaphore", Kind: Inline, Bounded: true,
		Does: Transacts | Churns,
		New: func(c Config) (Peer, error) {
			return &mutexSemaphore{
				xSemaphore: newXSemaphore(c),
				locks:      make([]lockedResource, c.Resources),
				more:       make(map[int]*lockedResource),
			}, nil
		},
	}
}

// Transact implements [Transactor].
func (p *mutexSemaphore) Transact(ctx context.Context, i int, fn TxFunc) (int, error) {
	return p.with(ctx, &p.locks[i], fn)
}

func (p *mutexSemaphore) with(ctx context.Context, r *lockedResource, fn TxFunc) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := p.sem.Acquire(ctx, 1); err != nil {
		return 0, err
	}
	defer p.sem.Release(1)
	return fn(ctx, &r.Resource)
}

// Churn keeps the resource under a number, as one does who hands the number out.
func (p *mutexSemaphore) Churn(ctx context.Context, fn TxFunc) (int, error) {
	id, err := p.register(ctx)
	if err != nil {
		return 0, err
	}
	defer p.destroy(id)
	p.mu.Lock()
	r := p.more[id]
	p.mu.Unlock()
	return p.with(ctx, r, fn)
}

func (p *mutexSemaphore) register(ctx context.Context) (int, error) {
	if err := p.sem.Acquire(ctx, 1); err != nil { // opening is a call too
		return 0, err
	}
	defer p.sem.Release(1)
	r := new(lockedResource)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.more[p.last] = r
	return p.last, nil
}

func (p *mutexSemaphore) destroy(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.more, id)
}
