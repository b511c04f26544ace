package lanetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func statsLaws() []law {
	return []law{
		{name: "StatsAddUpInEverySnapshot", check: statsAddUpInEverySnapshot},
		{name: "StatsCountEveryCall", check: statsCountEveryCall},
		{name: "StatsShowWhoWaitsWhere", needs: waiters, check: statsShowWhoWaitsWhere},
	}
}

// addUp returns what is wrong with a snapshot, or "".
func addUp(s lane.Stats) string {
	switch {
	case s.Running < 0 || s.Queued < 0 || s.Waiting < 0:
		return fmt.Sprintf("%d running, %d queued, %d waiting", s.Running, s.Queued, s.Waiting)
	case s.Accepted != s.Started+uint64(s.Queued)+s.Dropped:
		return fmt.Sprintf("Accepted = %d, but Started + Queued + Dropped = %d + %d + %d", s.Accepted, s.Started, s.Queued, s.Dropped)
	case s.Started != s.Completed+uint64(s.Running):
		return fmt.Sprintf("Started = %d, but Completed + Running = %d + %d", s.Started, s.Completed, s.Running)
	case s.Submitted != s.Accepted+uint64(s.Waiting)+s.Refused.Total():
		return fmt.Sprintf("Submitted = %d, but Accepted + Waiting + Refused = %d + %d + %d", s.Submitted, s.Accepted, s.Waiting, s.Refused.Total())
	}
	return ""
}

// sums checks one snapshot, also against what can be at all.
func (h *hall) sums(s lane.Stats) bool {
	wrong := addUp(s)
	if wrong == "" && !h.opt.Unbounded && s.Running > h.slots {
		wrong = fmt.Sprintf("%d calls run, in %d slots", s.Running, h.slots)
	}
	if wrong != "" {
		h.Errorf("a snapshot does not add up: %s\n%+v", wrong, s)
	}
	return wrong == ""
}

// tally is what the callers know of their own calls.
type tally struct {
	submitted, started, full, overloaded, reentry, expired, ended, shutdown atomic.Uint64
}

func (t *tally) count(err error) {
	t.submitted.Add(1)
	switch {
	case err == nil:
		t.started.Add(1)
	case errors.Is(err, ioerr.ErrQueueFull):
		t.full.Add(1)
	case errors.Is(err, ioerr.ErrOverloaded):
		t.overloaded.Add(1)
	case errors.Is(err, ioerr.ErrReentry):
		t.reentry.Add(1)
	case errors.Is(err, ioerr.ErrAcceptTimeout):
		t.expired.Add(1)
	case errors.Is(err, ioerr.ErrShutdown):
		t.shutdown.Add(1)
	default:
		t.ended.Add(1)
	}
}

// agree checks that a lane at rest has counted what its callers have.
func (h *hall) agree(t *tally, s lane.Stats) {
	h.Helper()
	h.sums(s)
	if s.Running != 0 || s.Queued != 0 || s.Waiting != 0 {
		h.Errorf("at rest there are %d running, %d queued, %d waiting", s.Running, s.Queued, s.Waiting)
	}
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"Submitted", s.Submitted, t.submitted.Load()},
		{"Started", s.Started, t.started.Load()},
		{"Completed", s.Completed, t.started.Load()},
		{"Refused.QueueFull", s.Refused.QueueFull, t.full.Load()},
		{"Refused.Overloaded", s.Refused.Overloaded, t.overloaded.Load()},
		{"Refused.Reentry", s.Refused.Reentry, t.reentry.Load()},
		{"Refused.Expired", s.Refused.Expired, t.expired.Load()},
		{"Refused.Cancelled + Dropped", s.Refused.Cancelled + s.Dropped, t.ended.Load()},
		{"Refused.Shutdown", s.Refused.Shutdown, t.shutdown.Load()},
	} {
		if c.got != c.want {
			h.Errorf("%s = %d, but the callers count %d", c.name, c.got, c.want)
		}
	}
}

// traffic is callers of every kind, as many as do not fit.
func (h *hall) traffic(t *tally, rounds int) *sync.WaitGroup {
	var wg sync.WaitGroup
	for range 2*h.burst() + 8 {
		wg.Go(func() {
			for range rounds {
				ctx, cancel := context.WithCancel(h.ctx)
				c := lane.Call{Policy: lane.Policy(rand.IntN(3)), NoWait: rand.IntN(8) == 0}
				switch rand.IntN(6) {
				case 0:
					cancel()
				case 1:
					go cancel()
				case 2:
					// Not in the past: with the race detector Go 1.26 crashes where several
					// goroutines of a bubble wait for channels of timers that have expired.
					c.Accept = time.Now().Add(time.Microsecond)
				}
				s, err := h.lane.Enter(ctx, c)
				t.count(err)
				if err == nil {
					for range rand.IntN(4) {
						runtime.Gosched()
					}
					h.lane.Leave(s)
				}
				cancel()
			}
		})
	}
	return &wg
}

func statsAddUpInEverySnapshot(h *hall) {
	// Every step of a crowd that comes and goes.
	h.use(lane.Config{Workers: 2, Queue: 3, Waiters: 3})
	for range min(h.burst(), 8) + 8 {
		h.enter(1, lane.Call{})
		h.sums(h.lane.Stats())
	}
	for i, g := range h.guests {
		if i%2 == 0 {
			g.cancel()
			h.settle()
			h.sums(h.lane.Stats())
		}
		g.dismiss()
		h.settle()
		h.sums(h.lane.Stats())
	}
	// Whatever is caught in between.
	h.use(lane.Config{Workers: 2, Queue: 3, Waiters: 3})
	var t tally
	wg := h.traffic(&t, 100)
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	// Now and then the clock of the bubble must get on.
	for n := 1; h.sums(h.lane.Stats()); n++ {
		if n%1000 != 0 {
			runtime.Gosched()
			continue
		}
		select {
		case <-done:
			h.agree(&t, h.lane.Stats())
			return
		case <-time.After(limit / 100):
			if n > 100_000 {
				h.Fatalf("the callers come to no end")
			}
		}
	}
}

func statsCountEveryCall(h *hall) {
	h.use(lane.Config{Workers: 2, Queue: 3, Waiters: 3})
	var t tally
	h.awaitAll(h.traffic(&t, 50), "the callers come to an end")
	h.agree(&t, h.lane.Stats())
	// One by one, with everything full.
	for range min(h.burst(), 4) + 8 {
		h.enter(1, lane.Call{})
	}
	for kind, c := range kinds() {
		for _, accept := range []time.Time{{}, time.Now().Add(-time.Second)} {
			c.Accept = accept
			g := h.enter(1, c)[0]
			if g.phase() == entering {
				h.Errorf("a %s call waits, though the lane is full", kind)
			}
		}
	}
	guests := h.guests
	h.empty()
	for _, g := range guests {
		t.count(g.err)
	}
	h.agree(&t, h.lane.Stats())
	h.endsWith(nil, h.shutdown(context.Background()))
	h.awaitAll(h.traffic(&t, 5), "the callers come to an end")
	h.agree(&t, h.lane.Stats())
}

func statsShowWhoWaitsWhere(h *hall) {
	_, waiting := h.crowd()
	check := func(running, queued, room int, promoted, dropped, cancelled uint64) {
		h.Helper()
		h.settle()
		s := h.lane.Stats()
		h.sums(s)
		if s.Running != running || s.Queued != queued || s.Waiting != room {
			h.Errorf("%d running, %d queued, %d waiting; want %d, %d, %d", s.Running, s.Queued, s.Waiting, running, queued, room)
		}
		if s.Promoted != promoted || s.Dropped != dropped || s.Refused.Cancelled != cancelled {
			h.Errorf("%d promoted, %d dropped, %d cancelled; want %d, %d, %d", s.Promoted, s.Dropped, s.Refused.Cancelled, promoted, dropped, cancelled)
		}
	}
	check(h.slots, 3, 2, 0, 0, 0)
	waiting[4].cancel()
	check(h.slots, 3, 1, 0, 0, 1)
	waiting[1].cancel()
	check(h.slots, 3, 0, 1, 1, 1)
	waiting[0].cancel()
	check(h.slots, 2, 0, 1, 2, 1)
	h.empty()
	check(0, 0, 0, 1, 2, 1)
}
