package lane_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/iolane/iolane/lane"
)

// kinds of lanes that cancellation must not hurt, each with two slots.
func twoSlots(t testing.TB) map[string]lane.Lane {
	t.Helper()
	many := lane.Config{Workers: 2, Queue: 512}
	strict, keyed, one := many, many, many
	strict.Patience = lane.Strict
	keyed.Workers, keyed.PerKey = 8, 2
	one.Workers = 1
	return map[string]lane.Lane{
		"Threads": threads(t, many),
		"strict":  threads(t, strict),
		"a key":   threads(t, keyed),
		"Sharded": sharded(t, lane.ShardedConfig{Shards: 2, Config: one}),
	}
}

// 256 callers give up at once while the slots change hands.
func TestACancellationStormCostsNoSlot(t *testing.T) {
	for name, l := range twoSlots(t) {
		t.Run(name, func(t *testing.T) {
			c := lane.Call{}
			if name == "a key" {
				c.Key = "k"
			}
			for range count(20, 2_000) {
				a, b := take(t, l, c), take(t, l, c)
				ctx, cancel := context.WithCancel(t.Context())
				w := &crew{lane: l}
				for range 256 {
					w.send(ctx, c).dismiss()
				}
				for s := l.Stats(); s.Queued+s.Waiting < 256; s = l.Stats() {
					runtime.Gosched()
				}
				go cancel()
				l.Leave(a)
				runtime.Gosched()
				l.Leave(b)
				for _, p := range w.all {
					<-p.gone
					if p.err != nil && !errors.Is(p.err, context.Canceled) {
						t.Fatalf("a caller got %v", p.err)
					}
				}
				cancel()
				if s := l.Stats(); s.Running != 0 || s.Queued != 0 || s.Waiting != 0 {
					t.Fatalf("after the storm: %+v", s)
				}
			}
			l.Leave(take(t, l, c))
			shut(t, l)
			addUp(t, l.Stats())
		})
	}
}

// A caller's context ends in the very moment that its slot comes. One of the two
// wins, and the slot is lost in neither case.
func TestCancelAgainstGrantHasOneWinner(t *testing.T) {
	for _, patience := range []time.Duration{lane.Strict, 0} {
		t.Run(fmt.Sprint(patience), func(t *testing.T) {
			l := threads(t, lane.Config{Workers: 1, Queue: 4, Patience: patience})
			w := &crew{lane: l}
			granted := 0
			for i := range count(10_000, 1_000_000) {
				s := take(t, l, lane.Call{})
				p := w.send(t.Context(), lane.Call{})
				p.dismiss()
				for l.Stats().Queued == 0 {
					runtime.Gosched()
				}
				var wg sync.WaitGroup
				wg.Go(p.cancel)
				if i%2 == 0 {
					runtime.Gosched()
				}
				l.Leave(s)
				wg.Wait()
				<-p.gone
				switch {
				case p.err == nil:
					granted++
				case !errors.Is(p.err, context.Canceled):
					t.Fatalf("the caller got %v", p.err)
				}
				w.all = nil
			}
			t.Logf("%d granted", granted)
			s := l.Stats()
			addUp(t, s)
			if want := uint64(count(10_000, 1_000_000)); s.Submitted != 2*want || s.Started != want+uint64(granted) || s.Dropped != want-uint64(granted) {
				t.Errorf("%d submitted, %d started, %d dropped; %d of %d were granted", s.Submitted, s.Started, s.Dropped, granted, want)
			}
			shut(t, l)
		})
	}
}

// A caller of a closing lane whose context ends before its slot comes does not
// run, and is not counted as if it had.
func TestACallerThatGivesUpWhileTheLaneClosesIsDropped(t *testing.T) {
	for _, patience := range []time.Duration{lane.Strict, 0} {
		for _, key := range []string{"", "k"} {
			open := func(t testing.TB) lane.Lane {
				return threads(t, lane.Config{Workers: 1, Patience: patience, PerKey: 2})
			}
			bubble(t, open, func(t *testing.T, w *crew) {
				s := take(t, w.lane, lane.Call{})
				p, q := w.sendAll(1, lane.Call{Key: key})[0], w.sendAll(1, lane.Call{Key: key})[0]
				w.lane.(lane.Gated).Seal()
				p.cancel()
				w.lane.Leave(s)
				wantInside(t, true, q)
				if !errors.Is(p.err, context.Canceled) {
					t.Errorf("the caller that gave up got %v", p.err)
				}
				if s := w.lane.Stats(); s.Started != 2 || s.Completed != 1 || s.Dropped != 1 {
					t.Errorf("%d started, %d completed, %d dropped; want 2, 1, 1", s.Started, s.Completed, s.Dropped)
				}
				addUp(t, w.lane.Stats())
			})
		}
	}
}
