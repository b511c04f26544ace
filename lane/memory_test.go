package lane_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// One worker sits on a gate, and a million calls come, in each mode. What the lane
// keeps is bounded by its queue, not by who comes.
func TestMemoryIsBoundedByTheQueueWhateverComes(t *testing.T) {
	const queue, waiters, item = 64, 64, 1 << 10
	// In a stress run a million in each mode.
	for name, mode := range map[string]struct {
		calls   int
		callers int
		call    lane.Call
		within  time.Duration // then the caller gives up; 0: it does not
		want    error
	}{
		"fail fast":   {count(200_000, 1_000_000), 1, lane.Call{Policy: lane.FailFast}, 0, ioerr.ErrQueueFull},
		"overloaded":  {count(200_000, 1_000_000), 1, lane.Call{}, 0, ioerr.ErrOverloaded},
		"no wait":     {count(200_000, 1_000_000), 1, lane.Call{NoWait: true}, 0, ioerr.ErrReentry},
		"busy key":    {count(50_000, 1_000_000), 1, lane.Call{Key: "k", NoWait: true}, 0, ioerr.ErrReentry},
		"many keys":   {count(50_000, 1_000_000), 1, lane.Call{Key: "?", Policy: lane.FailFast}, 0, ioerr.ErrQueueFull},
		"giving up":   {count(15_000, 1_000_000), waiters, lane.Call{}, 50 * time.Microsecond, context.DeadlineExceeded},
		"no time":     {count(15_000, 1_000_000), waiters, lane.Call{}, -1, ioerr.ErrAcceptTimeout},
		"giving up 2": {count(15_000, 1_000_000), queue, lane.Call{Urgent: true}, 50 * time.Microsecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			l := threads(t, lane.Config{Workers: 1, Queue: queue, Waiters: waiters, PerKey: 1})
			w := &crew{lane: l}
			gate := take(t, l, lane.Call{Key: "k"})
			fill := queue + waiters
			if mode.callers > 1 && !mode.call.Urgent {
				fill = queue
			}
			for range fill {
				w.send(t.Context(), lane.Call{})
			}
			for s := l.Stats(); s.Queued+s.Waiting < fill; s = l.Stats() {
				time.Sleep(time.Millisecond)
			}
			submit := func(n int) {
				var wg sync.WaitGroup
				for range mode.callers {
					wg.Go(func() {
						for i := range n / mode.callers {
							c, ctx, cancel := mode.call, context.Background(), func() {}
							switch {
							case c.Key == "?":
								c.Key = string([]byte{byte(i), byte(i >> 8), byte(i >> 16), 'x'})
							case mode.within > 0:
								ctx, cancel = context.WithTimeout(ctx, mode.within)
							case mode.within < 0:
								c.Accept = time.Now().Add(time.Duration(i%3) * 10 * time.Microsecond)
							}
							s, err := l.Enter(ctx, c)
							cancel()
							if !errors.Is(err, mode.want) {
								t.Errorf("got %v, want %v", err, mode.want)
								if err == nil {
									l.Leave(s)
								}
								return
							}
						}
					})
				}
				wg.Wait()
			}
			submit(mode.calls / 10)
			before := heap()
			submit(mode.calls)
			s := l.Stats()
			if s.Queued > 2*queue || s.Waiting > 2*waiters || s.Queued+s.Waiting != fill {
				t.Errorf("%d queued, %d waiting, want %d in all", s.Queued, s.Waiting, fill)
			}
			if grown := int64(heap()) - int64(before); grown > (queue+waiters)*item {
				t.Errorf("%d calls made the heap grow by %d bytes, more than %d for each place", mode.calls, grown, item)
			}
			l.Leave(gate)
			w.disband()
			shut(t, l)
		})
	}
}

// Calls take half a second each, and five times as many come as fit, for ten
// seconds. The queue is as long as it may be, the rest is told, and one service
// time after the last has come there is nothing left of it.
func TestOverloadEndsWithinOneServiceTime(t *testing.T) {
	const workers, service = 4, 500 * time.Millisecond
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: workers, Queue: workers, Policy: lane.FailFast})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		var wg sync.WaitGroup
		const offered = 5 * workers * 20 // in ten seconds
		for i := range offered {
			wg.Go(func() {
				s, err := w.lane.Enter(t.Context(), lane.Call{})
				if err != nil {
					if !errors.Is(err, ioerr.ErrQueueFull) {
						t.Errorf("got %v, want %v", err, ioerr.ErrQueueFull)
					}
					return
				}
				w.begin()
				time.Sleep(service)
				w.inside.Add(-1)
				w.lane.Leave(s)
			})
			time.Sleep(10 * time.Second / offered)
			synctest.Wait()
			if s := w.lane.Stats(); s.Queued > workers || i > offered/10 && s.Running != workers {
				t.Fatalf("%d running and %d queued after %d of %d calls", s.Running, s.Queued, i+1, offered)
			}
		}
		end := time.Now()
		for s := w.lane.Stats(); s.Queued > 0; s = w.lane.Stats() {
			time.Sleep(time.Millisecond)
		}
		if d := time.Since(end); d > service {
			t.Errorf("the queue was empty %v after the last call, want %v", d, service)
		}
		wg.Wait()
		s := w.lane.Stats()
		if want := uint64(workers * 20); s.Completed < want || s.Completed+s.Refused.QueueFull != offered {
			t.Errorf("%d calls completed and %d were refused of %d; at least %d fit", s.Completed, s.Refused.QueueFull, offered, want)
		}
	})
}
