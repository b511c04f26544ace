package lane_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// 32 submitters against one Shutdown. Each gets in or is told; what was accepted
// ran; and when Shutdown returns, nobody is inside.
func TestSubmittersAgainstShutdown(t *testing.T) {
	room := lane.Config{Workers: 4, Queue: 64}
	strict, few, one, keyed := room, room, room, room
	strict.Patience = lane.Strict
	few.Workers, few.Queue, few.Waiters = 2, 2, 64
	one.Workers = 1
	keyed.PerKey, keyed.Waiters = 1, 64
	for name, kind := range map[string]struct {
		open func() lane.Lane
		call lane.Call
	}{
		"Threads":  {func() lane.Lane { return threads(t, room) }, lane.Call{}},
		"strict":   {func() lane.Lane { return threads(t, strict) }, lane.Call{}},
		"waiters":  {func() lane.Lane { return threads(t, few) }, lane.Call{}},
		"one key":  {func() lane.Lane { return threads(t, keyed) }, lane.Call{Key: "k"}},
		"Sharded":  {func() lane.Lane { return sharded(t, lane.ShardedConfig{Shards: 4, Config: one}) }, lane.Call{}},
		"isolated": {func() lane.Lane { return sharded(t, lane.ShardedConfig{Shards: 4, Isolated: true, Config: one}) }, lane.Call{}},
		"Inline":   {func() lane.Lane { return lane.NewInline("") }, lane.Call{}},
	} {
		t.Run(name, func(t *testing.T) {
			base := runtime.NumGoroutine()
			for range count(1_500, 20_000) { // ten thousand rounds in all
				raceShutdown(t, kind.open(), kind.call)
				if t.Failed() {
					return
				}
			}
			// What has left the wait group may not have ended yet.
			for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > base; runtime.Gosched() {
				if time.Now().After(end) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), base)
				}
			}
		})
	}
}

func raceShutdown(t *testing.T, l lane.Lane, c lane.Call) {
	var ran, told, inside atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range 32 {
		wg.Go(func() {
			<-start
			for n := range 1 + i%3 {
				s, err := l.Enter(context.Background(), c)
				switch {
				case err == nil:
					inside.Add(1)
					if n == 0 {
						runtime.Gosched()
					}
					ran.Add(1)
					inside.Add(-1)
					l.Leave(s)
				case errors.Is(err, ioerr.ErrShutdown):
					told.Add(1)
				default:
					t.Errorf("a submitter got %v", err)
				}
			}
		})
	}
	close(start)
	for range rand.IntN(4) {
		runtime.Gosched()
	}
	if err := l.Shutdown(context.Background()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("%d calls ran when Shutdown returned", n)
	}
	done := ran.Load()
	wg.Wait()
	s := l.Stats()
	addUp(t, s)
	if s.Started != uint64(done) || s.Completed != s.Started || ran.Load() != done {
		t.Errorf("%d calls ran before Shutdown returned and %d after, %d started, %d completed", done, ran.Load()-done, s.Started, s.Completed)
	}
	if s.Submitted != uint64(done+told.Load()) || s.Submitted != 63 {
		t.Errorf("%d ran and %d were told, %d submitted of 63", done, told.Load(), s.Submitted)
	}
}

// Thousands wait; all are told at once, in no time.
func TestShutdownTellsEveryWaiterAtOnce(t *testing.T) {
	for name, open := range map[string]func(testing.TB) lane.Lane{
		"Threads": func(t testing.TB) lane.Lane {
			return threads(t, lane.Config{Workers: 1, Queue: 1, Waiters: 10_000})
		},
		"Sharded": func(t testing.TB) lane.Lane {
			return sharded(t, lane.ShardedConfig{Shards: 2, Config: lane.Config{Workers: 1, Queue: 1, Waiters: 10_000}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, open, func(t *testing.T, w *crew) {
				w.sendAll(4, lane.Call{})
				n := 10_000
				if raceDetector {
					n = 5_000
				}
				for range n {
					w.send(t.Context(), lane.Call{})
				}
				synctest.Wait()
				waiting := w.lane.Stats().Waiting
				if waiting < n {
					t.Fatalf("%d wait, want %d", waiting, n)
				}
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				go func() { _ = w.lane.Shutdown(ctx) }()
				synctest.Wait()
				told := 0
				for _, p := range w.all {
					if p.left() && errors.Is(p.err, ioerr.ErrShutdown) {
						told++
					}
				}
				if told != waiting || time.Since(began) != 0 {
					t.Errorf("%d of %d were told, after %v", told, waiting, time.Since(began))
				}
			})
		})
	}
}

// With calls that do not end Shutdown returns on time, as often as it is called,
// and costs nothing that grows.
func TestAShutdownThatGivesUpCanBeRepeated(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return sharded(t, lane.ShardedConfig{Shards: 2, Config: lane.Config{Workers: 1, Queue: 2}})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		w.sendAll(2, lane.Call{})
		shutdown := func() {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			if err := w.lane.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Shutdown: %v, want %v", err, context.DeadlineExceeded)
			}
			if d := time.Since(began); d != 100*time.Millisecond {
				t.Errorf("Shutdown returned after %v, want 100ms", d)
			}
		}
		for range 10 {
			shutdown()
		}
		before := heap()
		for range 1000 {
			shutdown()
		}
		if grown := int64(heap()) - int64(before); grown > 64<<10 {
			t.Errorf("a thousand calls of Shutdown take %d bytes", grown)
		}
	})
}

// Whoever seals a lane while callers are between their key and their slot.
func TestEvictAndSealRaceCallersWithKeys(t *testing.T) {
	for round := range count(300, 20_000) {
		l := sharded(t, lane.ShardedConfig{Shards: 2, Config: lane.Config{Workers: 1, Queue: 1, PerKey: 2}})
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for n := range 4 {
					s, err := l.Enter(context.Background(), lane.Call{Key: fmt.Sprint(n % 2), Owner: uint64(i % 3)})
					if err == nil {
						runtime.Gosched()
						l.Leave(s)
					} else if !errors.Is(err, ioerr.ErrShutdown) && !errors.Is(err, ioerr.ErrOverloaded) {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		for range round % 8 {
			runtime.Gosched()
		}
		wg.Go(func() { l.Evict(1) })
		wg.Go(l.Seal)
		wg.Go(func() { l.Evict(2) })
		wg.Wait()
		shut(t, l)
		s := l.Stats()
		addUp(t, s)
		if s.Submitted != 64 || s.Running+s.Queued+s.Waiting != 0 {
			t.Fatalf("at rest: %+v", s)
		}
	}
}
