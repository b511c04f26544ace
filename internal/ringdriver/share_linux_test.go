package ringdriver

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// wanted are slots that somebody waits for while it is set.
type wanted struct {
	set    atomic.Bool
	given  atomic.Int64
	atHand atomic.Int64
}

func (w *wanted) Grow(n int) int {
	if w.set.Load() {
		return 0
	}
	n = min(n, int(w.atHand.Swap(0)))
	return n
}

func (w *wanted) Drop() { w.given.Add(1) }

func (w *wanted) Wanted() bool { return w.set.Load() }

// Law: a batch gives back, one for each operation that ends, all slots but its first while
// somebody waits for them; and grows again when nobody does.
func TestABatchGivesItsSlotsToThoseWhoWait(t *testing.T) {
	for _, as := range []string{"goroutine", "fiber"} {
		d := newDriver(t, Config{Slots: 8})
		const n = 40
		var w wanted
		w.set.Store(true)
		gates := make([]gate, 4)
		ops := make([]fileop.Op, n) // all but the first are no-ops
		for i := range gates {
			gates[i] = newGate(t)
			ops[i] = *gates[i].op
		}
		var all sync.WaitGroup
		all.Go(func() {
			if as == "goroutine" {
				d.DoAll(bg, ops, nil, 4, &w)
				return
			}
			d.Run(bg, nil, func(ctx context.Context) { On(ctx).DoAll(ctx, ops, nil, 4, &w) })
		})
		flying(t, d, 4)
		require.Zero(t, w.given.Load())
		for i := range 3 {
			gates[i].open()
			for w.given.Load() != int64(i+1) {
				runtime.Gosched()
			}
			flying(t, d, 3-i)
		}
		w.atHand.Store(3)
		w.set.Store(false)
		gates[3].open()
		all.Wait()
		require.EqualValues(t, 3+3, w.given.Load()) // at its end it gives back what it has grown by
		for i := range ops {
			require.NoError(t, ops[i].Err)
		}
	}
}

// counted are slots that somebody waits for, which look at the driver whenever one is given
// back.
type counted struct {
	wanted
	back func()
}

func (c *counted) Drop() { c.back() }

// Law: a batch that is called off gives back no slot that one of its operations still has.
func TestABatchThatIsCalledOffKeepsTheSlotsOfWhatIsInFlight(t *testing.T) {
	d := newDriver(t, Config{Slots: 8})
	const depth = 4
	ops := make([]fileop.Op, 40) // all but the first are no-ops
	for i := range depth {
		ops[i] = *newGate(t).op
	}
	ctx, cancel := context.WithCancel(bg)
	var slots counted
	slots.set.Store(true)
	given := 0
	slots.back = func() {
		given++
		flying := 0
		for i := range d.table {
			if d.table[i].req != nil {
				flying++
			}
		}
		if flying > depth-given {
			t.Errorf("%d slots given back, and %d operations in flight", given, flying)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { d.DoAll(ctx, ops, nil, depth, &slots) })
	flying(t, d, depth)
	cancel()
	all.Wait()
	asOwner(t, d, func() {
		if given != depth-1 {
			t.Errorf("%d slots given back before the end", given)
		}
	})
	for i := range ops {
		require.ErrorIs(t, ops[i].Err, fileop.ErrCancelled)
	}
}

// Law: requests may be used more often than there are numbers of 32 bits.
func TestARequestIsUsedMoreOftenThan32BitsCount(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	r := newRequest()
	r.turn = 1<<32 - 2
	for range 4 {
		op := fileop.Op{}
		r.use(sliceOf(&op), nil, 1, nil)
		d.send(&r.begin)
		d.await(r)
		require.NoError(t, op.Err)
		gate := newGate(t)
		r.use(sliceOf(gate.op), nil, 1, nil)
		d.send(&r.begin)
		d.send(&r.off)
		d.await(r)
		require.ErrorIs(t, gate.op.Err, fileop.ErrCancelled)
		until(t, d, func() bool { return r.off.next == nil && r.early <= r.turn && len(d.calledOff) == 0 })
	}
}

// Law: no operations are done at once.
func TestNoOperationsEndAtOnce(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	none := []int32{}
	d.DoAll(bg, nil, nil, 1, nil)
	d.DoAll(bg, make([]fileop.Op, 3), none, 1, nil)
	d.Run(bg, nil, func(ctx context.Context) {
		On(ctx).DoAll(ctx, nil, nil, 1, nil)
		On(ctx).DoAll(ctx, make([]fileop.Op, 3), none, 1, nil)
	})
}

// Law: what ends its goroutine away from the driver ends the fiber, and that the caller of Run.
func TestGoexitAwayEndsTheCaller(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	var all sync.WaitGroup
	went, came := false, false
	all.Go(func() {
		d.Run(bg, nil, func(ctx context.Context) {
			On(ctx).Away(func() { went = true; runtime.Goexit() })
			came = true
		})
		came = true
	})
	all.Wait()
	require.True(t, went)
	require.False(t, came)
}

// Law: a slab cannot be registered with a driver that has ended.
func TestRegisterAfterTheEnd(t *testing.T) {
	d, err := New(Config{Slots: 4})
	require.NoError(t, err)
	require.NoError(t, d.Close(bg))
	require.ErrorIs(t, d.Register(new(fileop.Slab)), ErrEnded)
}
