package ringdriver

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Law: a chain wakes all in the order in which they ended, and comes back when all run; it can
// then be filled anew.
func TestAChainWakesAllInOrder(t *testing.T) {
	d := &Driver{chain: chain{back: make(chan struct{}, 1)}}
	c := &d.chain
	for _, n := range []int{0, 1, 2, 64} {
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		requests := make([]*request, n)
		for i := range requests {
			r := newRequest()
			requests[i] = r
			all.Go(func() {
				<-r.done
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				c.pass(r)
			})
		}
		for _, r := range requests {
			c.add(r)
		}
		d.wake()
		mu.Lock()
		require.Len(t, order, n)
		require.True(t, slices.IsSorted(order))
		mu.Unlock()
		all.Wait()
	}
}
