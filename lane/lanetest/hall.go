package lanetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// hall is where one law is checked: a lane and the guests that enter it.
type hall struct {
	testing.TB
	open   func(testing.TB, lane.Config) lane.Lane
	opt    Options
	bubble bool

	lane   lane.Lane // as the guests see it
	bare   lane.Lane // as it was opened
	slots  int
	guests []*guest        // of the present lane
	ctx    context.Context //nolint:containedctx // for all who enter the present lane and are no guests
	cancel context.CancelFunc

	started atomic.Int64 // calls that have begun
	inside  atomic.Int64
	peak    atomic.Int64

	mu       sync.Mutex
	failures []string // what was reported, in case that the bubble breaks
}

// limit is longer than anything takes that does not hang. In a bubble it costs
// nothing.
const limit = 5 * time.Second

// Errorf implements [testing.TB], and remembers.
func (h *hall) Errorf(format string, args ...any) {
	h.Helper()
	h.mu.Lock()
	h.failures = append(h.failures, fmt.Sprintf(format, args...))
	h.mu.Unlock()
	h.TB.Errorf(format, args...)
}

// Fatalf implements [testing.TB], and remembers.
func (h *hall) Fatalf(format string, args ...any) {
	h.Helper()
	h.Errorf(format, args...)
	h.FailNow()
}

// replay reports again what a broken bubble has swallowed.
func (h *hall) replay(t *testing.T) {
	t.Helper()
	for _, f := range h.failures {
		t.Error(f)
	}
}

// use opens the lane. What the lane leaves out is left out of the Config too.
func (h *hall) use(c lane.Config) {
	h.Helper()
	if h.opt.NoQueue {
		c.Queue = lane.NoQueue
	}
	if h.opt.NoWaiters {
		c.Waiters = lane.NoWaiters
	}
	h.slots = c.Workers
	if h.opt.Slots != nil {
		h.slots = h.opt.Slots(c)
	}
	first := h.lane == nil
	if !first {
		h.clear()
	}
	h.started.Store(0)
	h.inside.Store(0)
	h.peak.Store(0)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.bare = h.open(h.TB, c)
	h.lane = h.bare
	if h.opt.Carry {
		l, ok := h.bare.(lane.Carrier)
		if !ok {
			h.Fatalf("the lane is no lane.Carrier")
		}
		h.lane = newCarried(h, l)
	}
	if first {
		h.Cleanup(h.clear)
	}
}

// clear sends everybody home and closes the lane. The result matters to no law;
// but a lane that keeps its callers for ever breaks the bubble.
func (h *hall) clear() {
	h.cancel()
	for _, g := range h.guests {
		g.cancel()
		g.dismiss()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = h.lane.Shutdown(ctx)
	for _, g := range h.guests {
		select {
		case <-g.gone:
		case <-ctx.Done():
		}
	}
	h.guests = nil
}

// rounds is how often to repeat what shows only now and then: n times where that
// costs nothing.
func (h *hall) rounds(n int) int {
	if h.bubble {
		return n
	}
	return max(n/20, 2)
}

// while is a time within which everybody can settle: in a bubble any, else a long
// one.
func (h *hall) while(d time.Duration) time.Duration {
	if h.bubble {
		return d
	}
	return 10 * d
}

// settle returns when all guests have got as far as they can without help. In
// real time that is a guess, but a good one: for a while nothing has changed and
// nothing was under way, and the lane says that all who are in Enter wait, with no
// slot free. A lane that breaks a law may keep settle waiting up to the limit.
func (h *hall) settle() {
	if h.bubble {
		synctest.Wait()
		return
	}
	end := time.Now().Add(limit)
	last := -1
	for calm := 0; calm < 5 && time.Now().Before(end); calm++ {
		time.Sleep(500 * time.Microsecond)
		now, waiting := 0, 0
		for _, g := range h.guests {
			p := g.phase()
			now += int(p)
			if p == entering {
				waiting++
			}
			if g.underway() {
				calm = 0
			}
		}
		s := h.lane.Stats()
		if now != last || s.Queued+s.Waiting < waiting || s.Queued > 0 && s.Running < h.slots {
			calm, last = 0, now
		}
	}
}

// await settles and checks what must be true by then.
func (h *hall) await(what string, ok func() bool) {
	h.Helper()
	h.settle()
	if h.bubble {
		if !ok() {
			h.Fatalf("not so: %s", what)
		}
		return
	}
	for end := time.Now().Add(limit); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.Fatalf("not so after %v: %s", limit, what)
		}
	}
}

// take enters on this goroutine, where a slot must be free.
func (h *hall) take(c lane.Call) lane.Slot {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := h.lane.Enter(ctx, c)
	if err != nil {
		h.Fatalf("a caller that should have found a free slot got: %v", err)
	}
	return s
}

// ask enters on this goroutine, leaves at once if it was let in, and returns the
// error.
func (h *hall) ask(ctx context.Context, c lane.Call) error {
	h.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := h.lane.Enter(ctx, c)
	if err == nil {
		h.lane.Leave(s)
	}
	return err
}

// full reports whether err refuses for want of a place.
func full(err error) bool {
	return errors.Is(err, ioerr.ErrQueueFull) || errors.Is(err, ioerr.ErrOverloaded)
}

// fill brings guests in until no slot is free.
func (h *hall) fill() []*guest {
	h.Helper()
	in := h.enter(h.slots, lane.Call{})
	h.settle()
	h.want(inside, in...)
	return in
}
