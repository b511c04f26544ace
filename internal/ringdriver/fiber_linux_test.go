package ringdriver

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Law: a fiber that runs is the owner of the ring: its operation is described before it yields.
func TestAFiberDescribesItsOperationItself(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	g := newGate(t)
	for done := false; !done; {
		d.Run(bg, nil, func(ctx context.Context) {
			f := On(ctx)
			gen := f.gen
			if !d.lend(f) {
				return // it was too slow
			}
			done = true
			require.Equal(t, gen<<1, d.state.Load(), "the owner")
			require.False(t, d.lend(f), "it can be lent once")
			f.req.use(sliceOf(g.op), nil, 1, nil)
			d.begins(&f.req)
			d.describeAll()
			require.Equal(t, 1, d.inFlight)
			g.open()
			f.yield(struct{}{})
			require.Equal(t, 0, f.req.left)
		})
	}
	want(t, g.op, 1, nil)
}

// Law: fibers are alone on the ring between two operations, and all get on.
func TestFibersTakeTurns(t *testing.T) {
	d := newDriver(t, Config{Slots: 8})
	const n, each = 50, 40
	shared := 0 // no lock
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			d.Run(bg, nil, func(ctx context.Context) {
				f := On(ctx)
				for range each {
					if f.gen == 0 { // all on the first driver
						shared++
					}
					f.Do(ctx, nop())
				}
			})
		})
	}
	all.Wait()
	if s := d.Stats(); s.TakeOvers == 0 {
		require.Equal(t, n*each, shared)
		require.EqualValues(t, n*each, s.Operations)
	}
}

// Law: whoever waits for Run waits until the fiber has ended, and sees what it did.
func TestRunWaitsForTheEndOfTheFiber(t *testing.T) {
	d := newDriver(t, Config{Slots: 1})
	for range 100 {
		steps := 0
		d.Run(bg, t, func(ctx context.Context) {
			if On(ctx).Owner != any(t) || On(ctx).Driver() != d {
				t.Error("owner or driver")
			}
			steps++
			On(ctx).Do(ctx, nop())
			steps++
		})
		require.Equal(t, 2, steps)
	}
}

// Law: a fiber that panics or ends its goroutine does the same to whoever waits for it, and
// nothing to the driver or to others.
func TestAFiberThatEndsOtherwiseHarmsNobody(t *testing.T) {
	for name, lost := range map[string]bool{"owner": false, "taken over": true} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, Config{Slots: 4})
			g := newGate(t)
			var other sync.WaitGroup
			other.Go(func() {
				d.Run(bg, nil, func(ctx context.Context) {
					On(ctx).Do(ctx, g.op)
					On(ctx).Do(ctx, nop())
				})
			})
			flying(t, d, 1)
			for i := range 10 {
				end := func(ctx context.Context) {
					On(ctx).Do(ctx, nop())
					if lost {
						takenOver(ctx)
					}
					if i%2 == 0 {
						panic(i)
					}
					runtime.Goexit()
				}
				if i%2 == 0 {
					require.PanicsWithValue(t, i, func() { d.Run(bg, nil, end) })
					continue
				}
				returned := true
				var exits sync.WaitGroup
				exits.Go(func() {
					returned = false
					d.Run(bg, nil, end)
					returned = true
				})
				exits.Wait()
				require.False(t, returned, "Run returned")
			}
			g.open()
			other.Wait()
			want(t, g.op, 1, nil)
			d.Run(bg, nil, func(ctx context.Context) { On(ctx).Do(ctx, nop()) })
		})
	}
}

// Law: a fiber that ends its goroutine aside ends nothing else.
func TestAFiberThatEndsAsideHarmsNobody(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	for i := range 10 {
		var one sync.WaitGroup
		one.Go(func() {
			defer func() { _ = recover() }()
			d.Run(bg, nil, func(ctx context.Context) {
				takenOver(ctx)
				On(ctx).Do(ctx, nop()) // goes on aside
				if On(ctx).gen != nobody {
					t.Error("not aside")
				}
				if i%2 == 0 {
					panic(i)
				}
				runtime.Goexit()
			})
			t.Error("Run returned")
		})
		one.Wait()
	}
	op := nop()
	d.Do(bg, op)
	want(t, op, 0, nil)
}

// Law: only who is on the goroutine of a fiber is the fiber, whatever context he has.
func TestTheContextOfAFiberIsNotTheFiber(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	type key struct{}
	require.Nil(t, On(bg))
	var after context.Context
	d.Run(bg, nil, func(ctx context.Context) {
		after = ctx //nolint:fatcontext // what somebody may do
		f := On(ctx)
		require.NotNil(t, f)
		require.Same(t, f, On(context.WithValue(ctx, key{}, 1)))
		require.Same(t, f, On(context.WithoutCancel(ctx)))
		f.Away(func() {
			if On(ctx) != nil {
				t.Error("another goroutine is taken for the fiber")
			}
		})
		f.Do(ctx, nop())
		require.Same(t, f, On(ctx))
		RunHere(ctx, "here", func(inner context.Context) {
			if here := On(inner); here == f || here.Driver() != nil || here.Owner != "here" {
				t.Error("the inner fiber", here)
			}
			require.Same(t, f, On(ctx))
		})
	})
	require.Nil(t, On(after), "after its end")
	d.Run(bg, nil, func(ctx context.Context) { require.Nil(t, On(after), "from another fiber") })
}

// Law: what a fiber does away holds nobody up, and it goes on afterwards where it was.
func TestAFiberThatIsAwayHoldsNobodyUp(t *testing.T) {
	d := newDriver(t, Config{Slots: 2})
	open, steps := make(chan struct{}), []string{}
	var away sync.WaitGroup
	away.Go(func() {
		d.Run(bg, nil, func(ctx context.Context) {
			f := On(ctx)
			f.Away(func() { <-open; steps = append(steps, "away") })
			steps = append(steps, "back")
			f.Do(ctx, nop())
			require.PanicsWithValue(t, "away", func() { f.Away(func() { panic("away") }) })
			f.Do(ctx, nop())
		})
	})
	for range 100 {
		d.Run(bg, nil, func(ctx context.Context) { On(ctx).Do(ctx, nop()) })
	}
	close(open)
	away.Wait()
	require.Equal(t, []string{"away", "back"}, steps)
}

// Law: a fiber can be made by a goroutine that is locked to its thread.
func TestAFiberOfALockedGoroutine(t *testing.T) {
	d := newDriver(t, Config{Slots: 2})
	var locked sync.WaitGroup
	for i := range 8 {
		locked.Go(func() {
			runtime.LockOSThread()
			if i%2 == 0 { // else the thread ends with the goroutine
				defer runtime.UnlockOSThread()
			}
			d.Run(bg, nil, func(ctx context.Context) {
				On(ctx).Do(ctx, nop())
				takenOver(ctx)
				On(ctx).Do(ctx, nop())
			})
		})
	}
	locked.Wait()
}

// Law: fibers of one driver can operate on another, in it or as a goroutine, and wait for fibers
// of their own.
func TestFibersOfOneDriverUseAnother(t *testing.T) {
	a, b := newDriver(t, Config{Slots: 4}), newDriver(t, Config{Slots: 4})
	var done atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		one, other := a, b
		if i%2 == 1 {
			one, other = b, a
		}
		all.Go(func() {
			one.Run(bg, nil, func(ctx context.Context) {
				On(ctx).Do(ctx, nop())
				other.Do(ctx, nop()) // blocks
				other.Run(ctx, nil, func(inner context.Context) {
					if On(ctx) != nil || On(inner).Driver() != other {
						t.Error("who am I")
					}
					On(inner).Do(inner, nop())
					one.Do(inner, nop())
				})
				On(ctx).Do(ctx, nop())
				one.Run(ctx, nil, func(inner context.Context) { On(inner).Do(inner, nop()) })
				one.Do(ctx, nop())
				On(ctx).Do(ctx, nop())
				done.Add(1)
			})
		})
	}
	all.Wait()
	require.EqualValues(t, 8, done.Load())
}

// Law: the watch lives as long as there are fibers.
func TestTheWatchEndsWithTheLastFiber(t *testing.T) {
	d := newDriver(t, Config{Slots: 2})
	for range 3 {
		d.Run(bg, nil, func(context.Context) {
			d.watching.mu.Lock()
			defer d.watching.mu.Unlock()
			if d.watching.fibers != 1 || !d.watching.awake {
				t.Error("nobody watches")
			}
		})
		end := time.Now().Add(10 * time.Second)
		for awake := true; awake && time.Now().Before(end); runtime.Gosched() {
			d.watching.mu.Lock()
			awake = d.watching.awake
			d.watching.mu.Unlock()
		}
		require.True(t, time.Now().Before(end), "the watch goes on")
	}
}
