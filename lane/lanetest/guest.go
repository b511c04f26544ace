package lanetest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/iolane/iolane/lane"
)

// guest is one call, on a goroutine of its own: it enters, stays until it is
// dismissed, and leaves.
type guest struct {
	end  context.CancelFunc
	stay chan struct{} // closed by dismiss
	once sync.Once
	gone chan struct{} // closed when Enter has refused it or Leave has returned

	now       atomic.Int32 // a phase
	cancelled atomic.Bool
	dismissed atomic.Bool

	// Settled in every phase but entering.
	err   error // why it was refused
	both  bool  // it got a slot together with the error
	order int64 // it was the how-manieth to begin, from 1
}

type phase int32

const (
	entering phase = iota
	inside
	left
	refused
)

func (p phase) String() string {
	return [...]string{"waiting", "inside", "gone after its call", "refused"}[p]
}

func (g *guest) phase() phase { return phase(g.now.Load()) }

// dismiss lets the guest leave as soon as it is inside.
func (g *guest) dismiss() {
	g.dismissed.Store(true)
	g.once.Do(func() { close(g.stay) })
}

// cancel ends the guest's context.
func (g *guest) cancel() {
	g.cancelled.Store(true)
	g.end()
}

// underway reports whether something is about to happen to the guest.
func (g *guest) underway() bool {
	switch g.phase() {
	case entering:
		return g.cancelled.Load()
	case inside:
		return g.dismissed.Load()
	case left, refused:
		return !g.hasGone()
	}
	return false
}

func (g *guest) hasGone() bool {
	select {
	case <-g.gone:
		return true
	default:
		return false
	}
}

// enter sends n guests to the lane, one after another, each as far as it gets
// before the next.
func (h *hall) enter(n int, c lane.Call) []*guest {
	h.Helper()
	var all []*guest
	for range n {
		all = append(all, h.enterWith(context.Background(), c))
		h.settle()
	}
	return all
}

// enterWith sends one guest to the lane. ctx is the parent of its context.
func (h *hall) enterWith(ctx context.Context, c lane.Call) *guest {
	g := &guest{stay: make(chan struct{}), gone: make(chan struct{})}
	ctx, g.end = context.WithCancel(ctx)
	h.guests = append(h.guests, g)
	go g.visit(ctx, h, c)
	return g
}

func (g *guest) visit(ctx context.Context, h *hall, c lane.Call) {
	defer close(g.gone)
	slot, err := h.lane.Enter(ctx, c)
	if err != nil {
		g.err, g.both = err, slot != lane.Slot{}
		g.now.Store(int32(refused))
		return
	}
	h.begin(&g.order)
	g.now.Store(int32(inside))
	<-g.stay
	h.end()
	g.now.Store(int32(left))
	h.lane.Leave(slot)
}

// begin and end count a call, from its inside.
func (h *hall) begin(order *int64) {
	n := h.inside.Add(1)
	for p := h.peak.Load(); n > p && !h.peak.CompareAndSwap(p, n); p = h.peak.Load() {
	}
	*order = h.started.Add(1)
}

func (h *hall) end() { h.inside.Add(-1) }

// want settles nothing; it compares the phase that guests are in.
func (h *hall) want(p phase, guests ...*guest) {
	h.Helper()
	for i, g := range guests {
		if got := g.phase(); got != p {
			h.Fatalf("guest %d of %d is %v (error: %v), want %v", i+1, len(guests), got, g.err, p)
		}
	}
}
