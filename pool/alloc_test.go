package pool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// allocates checks that one call costs at most so many allocations.
func allocates(t *testing.T, what string, most float64, call func()) {
	t.Helper()
	if got := testing.AllocsPerRun(200, call); got > most {
		t.Errorf("%s: %v allocations, want at most %v", what, got, most)
	}
}

// Law: a call costs no allocation; a context other than Background costs one.
func TestCallsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties sync.Pools at random")
	}
	var shards [2]lane.Lane
	for i := range shards {
		var err error
		shards[i], err = lane.NewSharded(lane.ShardedConfig{Shards: 2, Isolated: i == 1})
		require.NoError(t, err)
	}
	for name, config := range map[string]pool.Config[int]{
		"own":      {},
		"shared":   {Lane: lane.NewInline("")},
		"owned":    {Lane: lane.NewInline(""), OwnsLane: true},
		"lending":  {Lane: shards[0]},
		"isolated": {Lane: shards[1], OwnsLane: true},
		"a user's": {Lane: newMinimal("", 2)},
	} {
		t.Run(name, func(t *testing.T) {
			p := makePool(t, config)
			id := adopt(t, p, 1)
			cancellable, cancel := context.WithCancel(bg)
			defer cancel()
			timed, stop := context.WithTimeout(bg, time.Hour)
			defer stop()
			x := 0
			call := func(context.Context) (int, error) { return 1, nil }
			allocates(t, "Run", 0, func() { _, _ = pool.Run(bg, p, call) })
			allocates(t, "Run of a closure", 0, func() {
				_, _ = pool.Run(bg, p, func(context.Context) (int, error) { x++; return x, nil })
			})
			allocates(t, "Do of a closure", 0, func() { _ = p.Do(bg, func(context.Context) error { x++; return nil }) })
			allocates(t, "Transact", 0, func() {
				_, _ = pool.Transact(bg, p, id, func(_ context.Context, r int) (int, error) { x += r; return x, nil })
			})
			allocates(t, "With", 0, func() { _ = p.With(bg, id, func(context.Context, int) error { x++; return nil }) })
			allocates(t, "Run, cancellable", 1, func() { _, _ = pool.Run(cancellable, p, call) })
			allocates(t, "Run, with a deadline", 1, func() { _, _ = pool.Run(timed, p, call) })
			allocates(t, "Transact, cancellable", 1, func() {
				_, _ = pool.Transact(cancellable, p, id, func(context.Context, int) (int, error) { x++; return x, nil })
			})
			allocates(t, "options", 0, func() {
				_ = p.Do(bg, func(context.Context) error { x++; return nil },
					pool.Label("x"), pool.AcceptWithin(time.Hour), pool.FailFast, pool.Wait, pool.Urgent)
			})
			closes(t, p)
		})
	}
}

// A call that may be left costs its parcel and its context; its goroutine costs nothing.
func TestOffloadAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties sync.Pools at random")
	}
	p := leaving(t, pool.Config[int]{}, lane.AbandoningConfig{})
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	call := func(context.Context) (int, error) { return 1, nil }
	allocates(t, "Offload", 1, func() { _, _ = pool.Offload(bg, p, call) })
	allocates(t, "Offload, cancellable", 1, func() { _, _ = pool.Offload(ctx, p, call) })
	closes(t, p)
}

func TestUnguardedCallsDoNotAllocate(t *testing.T) {
	p := makePool(t, pool.Config[int]{Unguarded: true})
	id := adopt(t, p, 1)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	x := 0
	allocates(t, "Run", 0, func() { _, _ = pool.Run(ctx, p, func(context.Context) (int, error) { x++; return x, nil }) })
	allocates(t, "With", 0, func() { _ = p.With(ctx, id, func(context.Context, int) error { x++; return nil }) })
	closes(t, p)
}

// Law: a refusal costs no allocation.
func TestRefusalsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties sync.Pools at random")
	}
	for _, shared := range []bool{false, true} {
		config := lane.Config{Workers: 1, Queue: lane.NoQueue, Waiters: lane.NoWaiters}
		c := pool.Config[int]{Waiters: lane.NoWaiters, Threads: config}
		if shared {
			l, err := lane.NewThreads(config)
			require.NoError(t, err)
			c = pool.Config[int]{Waiters: lane.NoWaiters, Lane: l}
		}
		p := makePool(t, c)
		idle, busy := adopt(t, p, 1), adopt(t, p, 2)
		gate := newGate()
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		refused := func(what string, want error, call func() error) {
			t.Helper()
			if err := call(); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
			allocates(t, what, 0, func() { _ = call() })
		}
		succeeds(t, p.With(bg, idle, func(ctx context.Context, _ int) error {
			refused("re-entry on the lane", ioerr.ErrReentry, func() error { return p.Do(ctx, nothing) })
			refused("re-entry on the handle", ioerr.ErrReentry, func() error { return p.With(ctx, idle, leave) })
			return nil
		}))
		holder := start(func() error { return p.With(bg, busy, hold[int](gate)) })
		gate.await(t, 1)
		refused("queue full", ioerr.ErrQueueFull, func() error { return p.Do(bg, nothing, pool.FailFast) })
		refused("queue full, cancellable", ioerr.ErrQueueFull, func() error { return p.Do(ctx, nothing, pool.FailFast) })
		refused("overloaded", ioerr.ErrOverloaded, func() error { return p.Do(bg, nothing) })
		refused("busy handle", ioerr.ErrHandleBusy, func() error { return p.With(bg, busy, leave, pool.FailFast) })
		refused("waiters full", ioerr.ErrWaitersFull, func() error { return p.With(bg, busy, leave) })
		refused("the lane behind a handle", ioerr.ErrOverloaded, func() error { return p.With(bg, idle, leave) })
		gate.open()
		succeeds(t, <-holder)
		closes(t, p)
		refused("shutdown", ioerr.ErrShutdown, func() error { return p.Do(bg, nothing) })
		refused("shutdown, handle", ioerr.ErrShutdown, func() error { return p.With(bg, idle, leave) })
		refused("shutdown, adopt", ioerr.ErrShutdown, func() error { return second(p.Adopt(1)) })
	}
}

func TestBusyKeyDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties sync.Pools at random")
	}
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 4, PerKey: 1}})
	gate := newGate()
	holder := start(func() error { return p.Do(bg, gate.pass, pool.Key("disk")) })
	gate.await(t, 1)
	is(t, p.Do(bg, nothing, pool.Key("disk"), pool.FailFast), ioerr.ErrKeyBusy)
	allocates(t, "busy key", 0, func() { _ = p.Do(bg, nothing, pool.Key("disk"), pool.FailFast) })
	gate.open()
	succeeds(t, <-holder)
	closes(t, p)
}
