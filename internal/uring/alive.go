package uring

import "sync"

// alive are all rings from New until Close has succeeded. The kernel may write into the
// buffers of a ring that somebody has forgotten, or that Close had to leave; and buffers
// are collected unless something refers to them. Only one variable of the package is
// sure to.
//
//nolint:gochecknoglobals // see above; it holds nothing that a caller could see
var alive struct {
	mu    sync.Mutex
	rings map[*Ring]struct{}
}

func hold(r *Ring) {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	if alive.rings == nil {
		alive.rings = make(map[*Ring]struct{})
	}
	alive.rings[r] = struct{}{}
}

func letGo(r *Ring) {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	delete(alive.rings, r)
}

// Alive is how many rings there are that have not been closed, those included that Close
// has left.
func Alive() int {
	alive.mu.Lock()
	defer alive.mu.Unlock()
	return len(alive.rings)
}
