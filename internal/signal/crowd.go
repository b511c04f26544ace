package signal

import (
	"context"
	"sync"
)

// Crowd is the goroutines that wait until a condition of their owner holds. The
// owner's mutex guards both, so no change of the condition falls between the look
// at it and the wait. The zero Crowd is empty.
type Crowd struct{ parkers []Parker }

// Wait is called with mu held and the condition not met. It unlocks mu, waits for
// WakeAll, and reports false if ctx ended first. mu is not held afterwards.
func (c *Crowd) Wait(ctx context.Context, mu *sync.Mutex) bool {
	p := NewParker()
	c.parkers = append(c.parkers, p)
	mu.Unlock()
	if p.Sleep(ctx.Done(), nil) == Woken {
		return true
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range c.parkers {
		if c.parkers[i] == p {
			c.parkers = append(c.parkers[:i], c.parkers[i+1:]...)
			return false
		}
	}
	return true // woken at the last moment; the token is dropped with its parker
}

// WakeAll ends all waits. mu is held.
func (c *Crowd) WakeAll() {
	for _, p := range c.parkers {
		p.Wake()
	}
	c.parkers = nil
}
