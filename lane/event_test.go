package lane_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/lane"
)

// record collects events. It is locked so that the race detector sees nothing
// that the lane has not ordered itself.
type record struct{ events []lane.Event }

func (r *record) add(e lane.Event) { r.events = append(r.events, e) }

func (r *record) kinds() string {
	var kinds []lane.EventKind
	for _, e := range r.events {
		kinds = append(kinds, e.Kind)
	}
	return fmt.Sprint(kinds)
}

// wantAlternation checks that the edges of one queue are each reported once and in
// turn, and that the queue ends at rest. If none was missed, a queue is full only
// while it is busy.
func wantAlternation(t *testing.T, events []lane.Event, missed uint64) {
	t.Helper()
	var busy, full, none bool
	var seq uint64
	all := missed == 0
	for i, e := range events {
		ok := false
		switch e.Kind { //nolint:exhaustive // a gate alone is not degraded
		case lane.Busy:
			ok, busy = !busy, true
		case lane.Idle:
			ok, busy = busy && !(all && full), false
		case lane.Saturated:
			ok, full = !full && (busy || !all), true
		case lane.Unsaturated:
			ok, full = full && (busy || !all), false
		case lane.Exhausted:
			ok, none = !none, true
		case lane.Recovered:
			ok, none = none, false
		}
		if !ok {
			t.Fatalf("event %d of %d, %v, cannot follow: busy %v, full %v", i+1, len(events), e, busy, full)
		}
		if e.Seq <= seq {
			t.Fatalf("event %d has the number %d after %d", i+1, e.Seq, seq)
		}
		seq = e.Seq
	}
	if busy || full {
		t.Errorf("at rest the last events say: busy %v, full %v", busy, full)
	}
	if got, want := uint64(len(events))+missed, seq; got < want || missed == 0 && got != want {
		t.Errorf("%d events, %d missed, but the last has the number %d", len(events), missed, want)
	}
}

func TestEachEdgeIsReportedOnce(t *testing.T) {
	var r record
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Name: "disk", Workers: 1, Queue: 2, Waiters: 2, OnEvent: r.add})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		step := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := r.kinds(); got != want {
				t.Errorf("the events are %s, want %s", got, want)
			}
		}
		first := w.sendAll(1, lane.Call{})[0]
		step("[]")
		a := w.sendAll(1, lane.Call{})[0]
		step("[busy]")
		b := w.sendAll(1, lane.Call{})[0]
		step("[busy saturated]")
		c := w.sendAll(1, lane.Call{})[0] // waits for acceptance
		step("[busy saturated]")
		a.cancel() // c is accepted in its place
		step("[busy saturated]")
		first.dismiss()
		step("[busy saturated unsaturated]")
		c.cancel()
		step("[busy saturated unsaturated idle]")
		b.dismiss()
		step("[busy saturated unsaturated idle]")
		for i, e := range r.events {
			if e.Lane != "disk" || e.Shard != 0 || e.Seq != uint64(i+1) {
				t.Errorf("event %d is %+v", i+1, e)
			}
		}
	})
}

func TestEdgesAlternateUnderLoad(t *testing.T) {
	const shards = 3
	var records [shards]record // one callback at a time for each shard
	var inside [shards]atomic.Int64
	l := sharded(t, lane.ShardedConfig{Shards: shards, Config: lane.Config{
		Workers: 1, Queue: 2, Waiters: 4, Patience: 20 * time.Microsecond,
		OnEvent: func(e lane.Event) {
			if inside[e.Shard].Add(1) != 1 {
				t.Error("two callbacks of one queue ran at a time")
			}
			records[e.Shard].add(e)
			inside[e.Shard].Add(-1)
		},
	}})
	load(l, 24, count(300, 20_000))
	shut(t, l)
	s := l.Stats()
	total := 0
	for i := range records {
		wantAlternation(t, records[i].events, s.Shards[i].EventsMissed)
		total += len(records[i].events)
	}
	if total == 0 {
		t.Error("there were no events at all")
	}
}

// load is callers of all kinds, all at once.
func load(l lane.Lane, callers, rounds int) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range rounds {
				ctx, cancel := context.WithCancel(context.Background())
				switch rand.IntN(4) {
				case 0:
					go cancel()
				case 1:
					ctx, cancel = context.WithTimeout(context.Background(), time.Duration(rand.IntN(100))*time.Microsecond)
				}
				s, err := l.Enter(ctx, lane.Call{
					Policy: lane.Policy(rand.IntN(3)),
					Handle: uint64(rand.IntN(20)),
					Urgent: rand.IntN(8) == 0,
					NoWait: rand.IntN(8) == 0,
				})
				if err == nil {
					if rand.IntN(3) == 0 {
						runtime.Gosched()
					}
					l.Leave(s)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

func TestACallbackMayUseTheLane(t *testing.T) {
	var l *lane.Threads
	var got atomic.Int64
	l = threads(t, lane.Config{Workers: 2, Queue: 1, PerKey: 1, OnEvent: func(e lane.Event) {
		addUp(t, l.Stats())
		if err := l.Resize(1 + int(e.Seq%3)); err != nil {
			t.Error(err)
		}
		if err := l.SetKeyLimit("k", int(e.Seq%3)); err != nil {
			t.Error(err)
		}
		for _, c := range []lane.Call{{NoWait: true}, {Policy: lane.FailFast, NoWait: true, Key: "k"}} {
			if s, err := l.Enter(context.Background(), c); err == nil {
				got.Add(1)
				l.Leave(s)
			}
		}
	}})
	// How many edges a load makes, and how full the lane is when one is reported, is
	// left to the scheduler: go on until a callback has got in.
	for once := true; once || got.Load() == 0; once = false {
		load(l, 8, count(200, 10_000))
	}
	shut(t, l)
}

// While a callback hangs, no caller is held up.
func TestASlowCallbackHoldsUpNobodyElse(t *testing.T) {
	var r record
	gate := make(chan struct{})
	l := threads(t, lane.Config{Workers: 2, Queue: 1, Waiters: 8, OnEvent: func(e lane.Event) {
		<-gate
		r.add(e)
	}})
	a, b := take(t, l, lane.Call{}), take(t, l, lane.Call{})
	held := make(chan error)
	go func() { // raises the first edge, in whose callback it stays
		s, err := l.Enter(context.Background(), lane.Call{})
		if err == nil {
			l.Leave(s)
		}
		held <- err
	}()
	for l.Stats().Queued == 0 {
		runtime.Gosched()
	}
	l.Leave(a)
	l.Leave(b)
	load(l, 8, 500)
	addUp(t, l.Stats())
	close(gate)
	if err := <-held; err != nil {
		t.Errorf("the caller in the callback got %v", err)
	}
	shut(t, l)
	wantAlternation(t, r.events, l.Stats().EventsMissed)
}

func TestACallbackFarBehindMissesEventsInPairs(t *testing.T) {
	for _, queue := range []int{1, 2, 8} {
		t.Run(fmt.Sprint("queue=", queue), func(t *testing.T) {
			var r record
			var gate chan struct{}
			open := func(t testing.TB) lane.Lane {
				gate = make(chan struct{})
				return threads(t, lane.Config{Workers: 1, Queue: queue, OnEvent: func(e lane.Event) {
					<-gate
					r.add(e)
				}})
			}
			bubble(t, open, func(t *testing.T, w *crew) {
				first := w.sendAll(1, lane.Call{})[0]
				for range 3000 { // busy, perhaps saturated, unsaturated, idle
					all := w.sendAll(1+rand.IntN(2), lane.Call{})
					for _, p := range all {
						p.cancel()
						synctest.Wait()
					}
				}
				close(gate)
				first.dismiss()
				synctest.Wait()
				s := w.lane.Stats()
				wantAlternation(t, r.events, s.EventsMissed)
				if s.EventsMissed == 0 || s.EventsMissed%2 != 0 {
					t.Errorf("%d events delivered and %d missed", len(r.events), s.EventsMissed)
				}
			})
		})
	}
}

func TestAPanicInACallbackIsCountedAndCostsNothing(t *testing.T) {
	var r record
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 1, Queue: 1, OnEvent: func(e lane.Event) {
			r.add(e)
			panic(e)
		}})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		for range 10 {
			all := w.sendAll(2, lane.Call{})
			all[0].dismiss()
			wantInside(t, true, all[1])
			all[1].dismiss()
			synctest.Wait()
		}
		if got, want := w.lane.Stats().CallbackPanics, uint64(40); got != want {
			t.Errorf("%d panics were counted, want %d", got, want)
		}
		wantAlternation(t, r.events, 0)
	})
}

// A callback that ends its goroutine, as t.FailNow does, ends the caller that it
// runs on; but no slot, place or event goes with it.
func TestGoexitInACallbackCostsNoSlot(t *testing.T) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		var exits atomic.Int64
		open := func(t testing.TB) lane.Lane {
			return threads(t, lane.Config{Workers: 1, Queue: 4, Patience: patience, OnEvent: func(lane.Event) {
				exits.Add(1)
				runtime.Goexit()
			}})
		}
		bubble(t, open, func(t *testing.T, w *crew) {
			for range 10 {
				s := take(t, w.lane, lane.Call{})
				all := w.sendAll(3, lane.Call{})
				for _, p := range all {
					p.dismiss()
				}
				w.lane.Leave(s)
				synctest.Wait()
				if n := slices.IndexFunc(all, func(p *caller) bool { return !p.left() }); n >= 0 {
					t.Fatalf("caller %d still waits; %+v", n, w.lane.Stats())
				}
				if s := w.lane.Stats(); s.Running != 0 || s.Queued != 0 {
					t.Fatalf("a slot or a place is lost: %+v", s)
				}
			}
			if exits.Load() == 0 {
				t.Error("there was no callback")
			}
		})
	}
}
