package pool_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// wire is a resource whose calls block until they are interrupted.
type wire struct {
	broken chan struct{}
	hits   atomic.Int32
}

func newWire() *wire { return &wire{broken: make(chan struct{}, 1)} }

func (w *wire) interrupt() {
	w.hits.Add(1)
	w.broken <- struct{}{}
}

func (w *wire) read(context.Context, *wire) error {
	<-w.broken
	return errIO
}

// Law: a call whose context ends, or that a shutdown gives up on, is interrupted by the
// hook of its resource, once, and its caller gets what it returns then.
func TestACallIsInterruptedByTheHookOfItsResource(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[*wire]{Interrupt: (*wire).interrupt})
		w, other := newWire(), newWire()
		id, id2 := adopt(t, p, w), adopt(t, p, other)

		require.NoError(t, p.With(within(t, time.Second), id, func(context.Context, *wire) error { return nil }))
		time.Sleep(time.Minute)
		require.Zero(t, w.hits.Load(), "it had ended")

		err := p.With(within(t, time.Second), id, w.read)
		require.ErrorIs(t, err, errIO)
		require.Equal(t, ioerr.Done, typed(t, err).Effect)
		_, err = pool.OffloadOn(within(t, time.Second), p, id, func(ctx context.Context, w *wire) (int, error) { return 1, w.read(ctx, w) })
		require.ErrorIs(t, err, errIO)
		require.EqualValues(t, 2, w.hits.Load())
		require.Zero(t, other.hits.Load())

		plain := start(func() error { return p.With(bg, id, w.read) })
		cancellable := start(func() error { return p.With(t.Context(), id2, other.read) })
		waits(t, plain)
		waits(t, cancellable)
		require.Error(t, p.Shutdown(within(t, time.Second)))
		require.ErrorIs(t, ended(t, plain), errIO)
		require.ErrorIs(t, ended(t, cancellable), errIO)
		require.EqualValues(t, 3, w.hits.Load())
		require.EqualValues(t, 1, other.hits.Load())
		closes(t, p)
	})
}

// Law: where callers leave, the hook gives a call the grace to end: one that obeys it is
// received, one that does not is left. The lane's limit interrupts, too.
func TestAnInterruptedCallHasItsGrace(t *testing.T) {
	for name, limit := range map[string]time.Duration{"context": lane.NoLimit, "limit": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := lane.NewAbandoning(lane.AbandoningConfig{CallLimit: limit, Grace: 100 * time.Millisecond})
				require.NoError(t, err)
				p := makePool(t, pool.Config[*wire]{Lane: l, OwnsLane: true, Interrupt: (*wire).interrupt})
				w := newWire()
				id := adopt(t, p, w)
				ctx := bg
				if limit == lane.NoLimit {
					ctx = within(t, 50*time.Millisecond)
				}
				began := time.Now()
				_, err = pool.OffloadOn(ctx, p, id, func(ctx context.Context, w *wire) (int, error) {
					defer time.Sleep(30 * time.Millisecond)
					return 7, w.read(ctx, w)
				})
				require.ErrorIs(t, err, errIO)
				require.Equal(t, 80*time.Millisecond, time.Since(began))

				gate := newGate()
				if limit == lane.NoLimit {
					ctx = within(t, 50*time.Millisecond)
				}
				began = time.Now()
				_, err = pool.OffloadOn(ctx, p, id, func(ctx context.Context, _ *wire) (int, error) { return 7, gate.pass(ctx) })
				require.ErrorIs(t, err, ioerr.ErrLeft)
				require.Equal(t, 150*time.Millisecond, time.Since(began))
				gate.open()
				closes(t, p)
			})
		})
	}
}

// Law: an interrupt never meets the call after its own, nor one that has ended.
func TestAnInterruptNeverMeetsTheNextCall(t *testing.T) {
	var current atomic.Int64 // the call that runs; zero: none
	var hit atomic.Int64
	p := makePool(t, pool.Config[int]{Threads: lane.Config{Workers: 2}, Interrupt: func(int) { hit.Store(current.Load()) }})
	id := adopt(t, p, 1)
	for i := range int64(rounds(2_000, 100_000)) {
		ctx, cancel := context.WithCancel(bg)
		go cancel()
		_ = p.With(ctx, id, func(ctx context.Context, _ int) error {
			current.Store(2*i + 1)
			if i%3 == 0 {
				<-ctx.Done()
			}
			return nil
		})
		hit.Store(0)
		require.NoError(t, p.With(bg, id, func(context.Context, int) error {
			current.Store(2*i + 2)
			if n := hit.Load(); n != 0 {
				t.Fatalf("hit in call %d: %d", i, n)
			}
			return nil
		}))
		if hit.Load() != 0 {
			t.Fatal("hit after the call")
		}
		cancel()
	}
	closes(t, p)
}

// Law: a hook that hangs costs nobody a slot, and keeps its resource until it ends.
func TestAnInterruptThatHangsKeepsItsResource(t *testing.T) {
	everywhere(t, need{bounded: true}, lane.Config{Workers: 1}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		gate := newGate()
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose, HookWithin: time.Minute,
			Interrupt: func(r *thing) { gate.stay() }})
		id := adopt(t, p, shop.make())
		ctx, cancel := context.WithCancel(bg)
		call := start(func() error {
			return p.With(ctx, id, func(context.Context, *thing) error { cancel(); time.Sleep(time.Millisecond); return errIO })
		})
		time.Sleep(time.Minute)
		waits(t, call)
		time.Sleep(time.Millisecond)
		require.ErrorIs(t, ended(t, call), errIO)
		require.Zero(t, p.Stats().Lane.Running)
		require.NoError(t, p.Do(bg, nothing))
		stuck, ok := errors.AsType[*ioerr.StuckError](p.With(bg, id, with(nothing)))
		if !ok || stuck.Label != "interrupt" || !errors.Is(stuck, ioerr.ErrHandleBusy) {
			t.Errorf("%v", stuck)
		}
		gate.open()
		synctest.Wait()
		require.NoError(t, p.With(bg, id, with(nothing)))
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || len(report.Failed) != 1 || report.Failed[0].Hook != "interrupt" || !errors.Is(report, ioerr.ErrHookTimeout) {
			t.Errorf("%v", report)
		}
		shop.allBack()
	})
}

// Law: what goes wrong in the hook is reported, and costs nothing else.
func TestAnInterruptThatPanicsIsReported(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 1}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{Interrupt: func(int) { panic(errIO) }})
		id := adopt(t, p, 1)
		require.NoError(t, p.With(within(t, time.Second), id, takes(time.Minute)))
		require.NoError(t, p.With(bg, id, takes(time.Minute)))
		report, ok := errors.AsType[*pool.Report](p.Close())
		if !ok || len(report.Failed) != 1 || report.Failed[0].Hook != "interrupt" || !errors.Is(report, errIO) {
			t.Errorf("%v", report)
		}
	})
}

// Interrupts, ends of calls, health and shutdown at once lose no resource.
func TestInterruptsAtOnceWithAllTheRest(t *testing.T) {
	for range rounds(10, 100) {
		shop := newShop(t)
		p := makePool(t, pool.Config[*thing]{Dispose: shop.dispose, Threads: lane.Config{Workers: 2},
			Interrupt: func(*thing) {},
			Health:    pool.HealthRules{Slow: time.Nanosecond, Down: 2, Probe: time.Microsecond},
			Check:     func(r *thing) error { r.use(); defer r.done(); return nil },
			Watch:     pool.Watch{Slow: time.Nanosecond, Queue: time.Nanosecond, Wedged: time.Nanosecond},
			OnEvent:   func(pool.Event) {},
		})
		id := adopt(t, p, shop.make())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					ctx, cancel := context.WithTimeout(bg, 20*time.Microsecond)
					_ = p.With(ctx, id, func(ctx context.Context, r *thing) error { r.use(); defer r.done(); <-ctx.Done(); return nil })
					cancel()
				}
			})
		}
		wg.Go(func() { time.Sleep(200 * time.Microsecond); _ = p.Shutdown(bg) })
		wg.Wait()
		closes(t, p)
		shop.allBack()
	}
}
