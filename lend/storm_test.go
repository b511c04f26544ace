package lend_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lend"
	"github.com/iolane/iolane/pool"
)

// Law: whatever callers, resources and the clock do, in the end everything can be lent, and
// what is to be idle is.
func TestAStormLosesNothing(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { storm(t, seed) })
	}
}

func storm(t *testing.T, seed uint64) {
	t.Helper()
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	n := func(below int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(below)
	}
	pause := func() { time.Sleep(time.Duration(n(5)) * time.Millisecond) }
	var calm atomic.Bool
	fails := func(of int) error {
		if !calm.Load() && n(of) == 0 {
			return errIO
		}
		return nil
	}
	s := shop{before: func(context.Context) error { pause(); return fails(4) }, leaves: pause}
	capacity := 1 + n(4)
	resizes := n(2) == 0
	c := lend.Config[*thing]{
		Capacity: capacity, MinIdle: n(capacity + 1), Waiters: 3 + n(9),
		Lifetime: time.Duration(n(2)) * 20 * time.Millisecond, IdleTime: time.Duration(n(2)) * 3 * time.Millisecond,
		Check: func(context.Context, *thing) error { pause(); return fails(3) },
	}
	if n(2) == 0 {
		c.Patience = lane.Strict
	}
	l, p := on(t, &s, c, pool.Config[*thing]{Threads: lane.Config{Workers: 1 + n(4)}})
	call := func(ctx context.Context, r *thing) error {
		r.use(ctx)
		pause()
		switch n(9) {
		case 0:
			panic(errIO)
		case 1:
			runtime.Goexit()
		case 2:
			return pool.Poison(errIO)
		case 3:
			return l.With(ctx, func(context.Context, *thing) error { return nil })
		}
		return nil
	}
	var all sync.WaitGroup
	for range 10 * 12 {
		all.Go(func() {
			for range n(12) {
				pause()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+n(40))*time.Millisecond)
			defer cancel()
			switch n(8) {
			case 0:
				if resizes {
					require.NoError(t, l.Resize(max(c.MinIdle, 1)+n(4)))
				}
			case 1:
				_ = l.With(ctx, call, pool.FailFast)
			case 2:
				_ = l.With(ctx, call, pool.AcceptWithin(time.Duration(n(8))*time.Millisecond))
			case 3, 4:
				b, err := l.Borrow(ctx)
				if err != nil {
					return
				}
				defer func() { _ = b.Return() }()
				_ = b.With(ctx, call)
				if n(3) == 0 {
					_ = b.Discard()
				}
			case 5:
				_ = p.Do(ctx, func(ctx context.Context) error { return l.With(ctx, call) })
			default:
				_ = l.With(ctx, call)
			}
		})
	}
	all.Wait()
	synctest.Wait()
	calm.Store(true)
	if !resizes {
		require.LessOrEqual(t, s.most.Load(), int64(capacity), "seed %d", seed)
	}
	if c.Lifetime == 0 { // else those that are to be idle come and go without an end
		time.Sleep(2 * time.Minute) // longer than any pause between openings
	}
	time.Sleep(time.Second)
	synctest.Wait()
	st := l.Stats()
	require.Zero(t, st.Lent+st.Waiting, "seed %d: %+v", seed, st)
	require.LessOrEqual(t, st.Open, st.Capacity, "seed %d: %+v", seed, st)
	if c.Lifetime == 0 {
		require.GreaterOrEqual(t, st.Idle, c.MinIdle, "seed %d: %+v", seed, st)
	}
	loans := make([]lend.Loan[*thing], st.Capacity)
	for i := range loans {
		loans[i] = borrow(t, l)
	}
	require.LessOrEqual(t, s.exist.Load(), int64(st.Capacity))
	for i := range loans {
		require.NoError(t, loans[i].Return())
	}
}
