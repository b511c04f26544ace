package ringdriver

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

func sliceOf(op *fileop.Op) []fileop.Op { return unsafe.Slice(op, 1) }

// takenOver blocks the fiber that calls it until another driver has the ring. If it has
// lost that before, because it was slow, or runs aside, it goes on at once.
func takenOver(ctx context.Context) {
	for f := On(ctx); f.d.state.Load()>>1 == f.gen; {
		runtime.Gosched()
	}
}

// Law: a fiber that blocks is taken over: others go on, and so does it, later.
func TestABlockedFiberIsTakenOver(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	block := make(chan struct{})
	g := newGate(t)
	var blocked sync.WaitGroup
	blocked.Go(func() {
		d.Run(bg, nil, func(ctx context.Context) {
			<-block
			require.False(t, d.lend(On(ctx)), "the ring is another driver's")
			On(ctx).Do(ctx, g.op) // by the inbox
			On(ctx).Do(ctx, nop())
		})
	})
	until(t, d, func() bool { return d.count.takeovers.Load() > 0 })
	op := nop()
	d.Do(bg, op)
	d.Run(bg, nil, func(ctx context.Context) { On(ctx).Do(ctx, op) })
	close(block)
	flying(t, d, 1)
	g.open()
	blocked.Wait()
	want(t, g.op, 1, nil)
}

// Law: an owner cannot be taken over: neither a driver nor a fiber that has the ring.
func TestAnOwnerIsNotTakenOver(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	ticks := atomic.Int64{}
	asOwner(t, d, func() {
		// Another driver's watch has the same tick: when it has come twice so has this one's.
		before := d.count.takeovers.Load()
		other := newDriver(t, Config{Slots: 1})
		for ticks.Load() < 2 {
			other.Run(bg, nil, func(ctx context.Context) { takenOver(ctx); ticks.Add(1) })
		}
		require.Equal(t, before, d.count.takeovers.Load())
	})
	require.EqualValues(t, 2, ticks.Load())
}

// Law: a fiber whose operation has ended before it parked goes on once, with the owner or
// without.
func TestAFiberThatIsEarlyGoesOnOnce(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	for range rounds(20, 500) {
		// As owner: what it describes is refused at once, so it ends while the fiber runs.
		ctx, cancel := context.WithCancel(bg)
		cancel()
		times := 0
		d.Run(bg, nil, func(context.Context) {})
		d.Run(bg, nil, func(inner context.Context) {
			f := On(inner)
			op := nop()
			f.Do(ctx, op)
			want(t, op, 0, fileop.ErrCancelled)
			require.Equal(t, running, f.state.Load())
			times++
		})
		require.Equal(t, 1, times)
		// Taken over: the other driver ends the operation while the fiber has not parked.
		d.Run(bg, nil, func(inner context.Context) {
			f := On(inner)
			takenOver(inner)
			op := nop()
			f.req.use(sliceOf(op), nil, 1, nil)
			d.send(&f.req.begin)
			for f.state.Load() != early {
				runtime.Gosched()
			}
			f.yield(struct{}{})
			require.Equal(t, running, f.state.Load())
			want(t, op, 0, nil)
			f.aside = 0
			times++
		})
		require.Equal(t, 2, times)
	}
}

// Law: a fiber that has blocked a driver runs aside for some time, and then on it again.
func TestAFiberThatHasBlockedRunsAsideForSomeTime(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	d.Run(bg, nil, func(ctx context.Context) {
		f := On(ctx)
		takenOver(ctx)
		aside := 0
		for f.Do(ctx, nop()); f.gen == nobody; f.Do(ctx, nop()) {
			if d.lend(f) {
				t.Error("who runs aside owns nothing")
			}
			aside++
		}
		require.Equal(t, penance, aside)
	})
}

// Law: fibers that hold a mutex across an operation cannot stop one another for ever.
func TestFibersThatHoldAMutexAcrossOperationsGetOn(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			d := newDriver(t, Config{Slots: 8})
			f := file(t, pattern(4096))
			var mu sync.Mutex
			held, each := 0, rounds(20, 300)
			var all sync.WaitGroup
			for range 32 {
				all.Go(func() {
					d.Run(bg, nil, func(ctx context.Context) {
						for range each {
							mu.Lock()
							op := &fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 8), Off: 8}
							On(ctx).Do(ctx, op)
							want(t, op, 8, nil)
							held++
							mu.Unlock()
						}
					})
				})
			}
			all.Wait()
			require.Equal(t, 32*each, held)
			require.NotZero(t, d.Stats().TakeOvers)
		}()
	}
}

// Law: of many drivers in a row one owns the ring at a time.
func TestManyTakeOvers(t *testing.T) {
	d := newDriver(t, Config{Slots: 4, Tamper: nil})
	var owners atomic.Int64
	d.tamper = func(_ *fileop.Op, res int32) int32 {
		if owners.Add(1) != 1 {
			t.Error("two owners")
		}
		runtime.Gosched()
		owners.Add(-1)
		return res
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range rounds(5, 200) {
				d.Run(bg, nil, func(ctx context.Context) {
					On(ctx).Do(ctx, nop())
					takenOver(ctx)
					On(ctx).Do(ctx, nop())
				})
			}
		})
		all.Go(func() {
			for range 500 {
				d.Do(bg, nop())
			}
		})
	}
	all.Wait()
	require.NotZero(t, d.Stats().TakeOvers)
}
