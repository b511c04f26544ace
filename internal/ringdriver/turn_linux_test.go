package ringdriver

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// Law: whoever comes after a batch that wants more slots than there are waits for a turn of it,
// not for all of it.
func TestABatchLongerThanTheRingLetsOthersHaveTheirTurn(t *testing.T) {
	const slots, n, singles = 64, 10000, 10
	d := newDriver(t, Config{Slots: slots})
	ended := 0       // of the batch
	var waited []int // how many of these ended before each single operation
	asOwner(t, d, func() {
		d.tamper = func(op *fileop.Op, res int32) int32 {
			if op.Flags == 0 {
				ended++
			} else {
				waited = append(waited, ended)
			}
			return res
		}
	})
	gates := make([]gate, slots) // the batch begins with these, so that the others are behind it
	ops := make([]fileop.Op, n)
	for i := range gates {
		gates[i] = newGate(t)
		ops[i] = *gates[i].op
	}
	var all sync.WaitGroup
	all.Go(func() { d.DoAll(bg, ops, nil, n, nil) })
	flying(t, d, slots)
	requests := make([]*request, singles)
	for i := range requests {
		requests[i] = newRequest()
		requests[i].use(sliceOf(&fileop.Op{Flags: 1}), nil, 1, nil)
		d.send(&requests[i].begin)
	}
	for _, g := range gates {
		g.open()
	}
	for _, r := range requests {
		d.await(r)
	}
	all.Wait()
	require.Len(t, waited, singles)
	require.LessOrEqual(t, waited[singles-1], 3*slots)
}
