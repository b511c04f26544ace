package peer

import (
	"context"
	"sync"
)

// mutexes is a resource behind each mutex, and no bound: the floor of transactions.
type mutexes struct {
	bare
	locks []lockedResource
}

type lockedResource struct {
	mu sync.Mutex
	Resource
}

func mutexMaker() Maker {
	return Maker{
		Name: "mutex", About: "a mutex for each resource, unbounded", Kind: Inline, Does: Transacts,
		New: func(c Config) (Peer, error) { return &mutexes{locks: make([]lockedResource, c.Resources)}, nil },
	}
}

// Transact implements [Transactor].
func (p *mutexes) Transact(ctx context.Context, i int, fn TxFunc) (int, error) {
	r := &p.locks[i]
	r.mu.Lock()
	defer r.mu.Unlock()
	return fn(ctx, &r.Resource)
}
