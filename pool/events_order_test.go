package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Law: CallLeft comes before LateEnd, whoever is quicker.
func TestCallLeftComesBeforeLateEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		p := leaving(t, pool.Config[int]{OnEvent: l.add}, lane.AbandoningConfig{})
		gate := newGate()
		var once sync.Once
		ctx := slowErr{within(t, time.Second), func() {
			if p.Stats().Lane.LeftTotal == 1 { // it has been left
				once.Do(func() { gate.open(); time.Sleep(time.Second) })
			}
		}}
		_, err := pool.Offload(ctx, p, func(ctx context.Context) (int, error) { return 1, gate.pass(ctx) }, pool.Label("open"))
		require.ErrorIs(t, err, ioerr.ErrLeft)
		if k := kinds(l.take()); len(k) != 2 || k[0] != pool.CallLeft {
			t.Errorf("%v", k)
		}
		closes(t, p)
	})
}

// Law: no event comes after the shutdown.
func TestNoEventComesAfterTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		p := leaving(t, pool.Config[int]{OnEvent: l.add}, lane.AbandoningConfig{})
		gate := newGate()
		var once sync.Once
		ctx := slowErr{within(t, time.Second), func() {
			if p.Stats().Lane.LeftTotal == 1 {
				once.Do(func() {
					gate.open()
					if err := <-start(p.Close); err != nil {
						t.Error(err)
					}
					l.take()
				})
			}
		}}
		_, err := pool.Offload(ctx, p, func(ctx context.Context) (int, error) { return 1, gate.pass(ctx) }, pool.Label("open"))
		require.ErrorIs(t, err, ioerr.ErrLeft)
		if e := l.take(); len(e) > 0 {
			t.Errorf("after Shutdown: %v", e)
		}
	})
}

// Law: CallLeft is told, whatever the context of the caller does.
func TestCallLeftIsToldWhateverTheContextDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		shop := newShop(t)
		p := leaving(t, pool.Config[*thing]{OnEvent: l.add, Dispose: shop.dispose, Interrupt: func(*thing) {}}, lane.AbandoningConfig{})
		id := adopt(t, p, shop.make())
		func() {
			defer func() { t.Log(recover()) }()
			_, _ = pool.OffloadOn(panicErr{within(t, time.Second)}, p, id, func(context.Context, *thing) (int, error) { time.Sleep(time.Minute); return 1, nil })
		}()
		time.Sleep(time.Hour)
		if k := kinds(l.take()); len(k) > 0 && k[0] != pool.CallLeft {
			t.Error(k)
		}
		require.NoError(t, p.With(bg, id, with(nothing)))
		closes(t, p)
		shop.allBack()
	})
}

// Law: events come in pairs, each once, in a storm.
func TestEventsComeInPairs(t *testing.T) {
	var l log
	lc, err := lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 4}, CallLimit: 2 * time.Millisecond, Grace: lane.NoGrace, Left: 16})
	require.NoError(t, err)
	p := makePool(t, pool.Config[int]{Lane: lc, OwnsLane: true, OnEvent: l.add,
		Watch:  pool.Watch{Slow: 500 * time.Microsecond, Queue: time.Millisecond},
		Check:  func(int) error { return []error{nil, errIO}[rand.IntN(2)] },
		Health: pool.HealthRules{Stuck: time.Millisecond, Bad: func(err error) bool { return err == errIO }, Down: 2, Probe: 100 * time.Microsecond}})
	ids := []handle.ID{adopt(t, p, 1), adopt(t, p, 2), adopt(t, p, 3)}
	var wg sync.WaitGroup
	end := time.Now().Add(time.Duration(rounds(500, 8000)) * time.Millisecond)
	for w := range 6 {
		wg.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				label := fmt.Sprint(w, "-", i)
				id := ids[rand.IntN(3)]
				fn := func(context.Context, int) (int, error) {
					time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
					if rand.IntN(10) == 0 {
						time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
					}
					return 0, []error{nil, nil, errIO}[rand.IntN(3)]
				}
				ctx, cancel := context.WithTimeout(bg, time.Duration(rand.IntN(4000))*time.Microsecond)
				if rand.IntN(2) == 0 {
					_, _ = pool.OffloadOn(ctx, p, id, fn, pool.Label(label))
				} else {
					_, _ = pool.Transact(ctx, p, id, fn, pool.Label(label))
				}
				cancel()
			}
		})
	}
	wg.Wait()
	closes(t, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	count := map[string]int{}
	last := map[handle.ID]pool.Health{}
	inv := 0
	for _, e := range l.all {
		k := fmt.Sprint(e.Kind, " ", e.Call.Label)
		switch e.Kind { //nolint:exhaustive // the others come in no pairs by label
		case pool.CallSlow, pool.CallEnded, pool.CallLeft, pool.LateEnd:
			if count[k]++; count[k] > 1 {
				t.Errorf("twice: %v", e)
			}
			if e.Kind == pool.CallEnded && count[fmt.Sprint(pool.CallSlow, " ", e.Call.Label)] != 1 {
				t.Errorf("ended before slow: %v", e)
			}
			if e.Kind == pool.LateEnd && count[fmt.Sprint(pool.CallLeft, " ", e.Call.Label)] != 1 {
				inv++
			}
		case pool.HealthChanged:
			if h, ok := last[e.Call.Handle]; ok && h == e.Health || !ok && e.Health == pool.Healthy {
				t.Errorf("no change: %v", e)
			}
			last[e.Call.Handle] = e.Health
		}
	}
	n := map[pool.EventKind]int{}
	for _, e := range l.all {
		n[e.Kind]++
	}
	t.Logf("%v, missed %d, LateEnd before CallLeft %d", n, p.Stats().EventsMissed, inv)
	if n[pool.CallSlow] != n[pool.CallEnded] || n[pool.CallLeft] != n[pool.LateEnd] {
		t.Error("pairs")
	}
	if inv > 0 {
		t.Errorf("%d times LateEnd before CallLeft", inv)
	}
}

// Law: the fate of a resource that comes too late is told.
func TestAResourceThatComesLateIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		p := leaving(t, pool.Config[int]{OnEvent: l.add, Dispose: func(int) error { return errIO }}, lane.AbandoningConfig{})
		_, err := p.Register(within(t, time.Second), func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil })
		require.ErrorIs(t, err, ioerr.ErrLeft)
		time.Sleep(time.Hour)
		for _, e := range l.take() {
			if e.Kind == pool.LateEnd && e.Fate == pool.Undone {
				t.Errorf("%v, but its disposal failed", e)
			}
		}
		_ = p.Close()
	})
}
