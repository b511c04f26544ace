package lanetest

import (
	"context"
	"errors"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func gatedLaws() []law {
	return []law{
		{name: "GatedTryNeverWaits", check: tryNeverWaits},
		{name: "GatedSealRefusesAllButMust", check: sealRefusesAllButMust},
		{name: "GatedSealRefusesTheUnaccepted", needs: waiters, check: sealRefusesTheUnaccepted},
		{name: "GatedMustPassesTheBounds", needs: queue, check: mustPassesTheBounds},
		{name: "GatedDrainWaitsForTheLastCall", check: drainWaitsForTheLastCall},
		{name: "GatedEvictRefusesTheUnacceptedOfOneOwner", needs: waiters, check: evictRefusesOneOwner},
		{name: "GatedShutdownRefusesMustInTheEnd", check: shutdownRefusesMust},
	}
}

// gated opens the lane and returns it as a lane.Gated, or skips the law.
func (h *hall) gated(c lane.Config) lane.Gated {
	h.Helper()
	h.use(c)
	g, ok := h.lane.(lane.Gated)
	if !ok {
		h.Skip("the lane is not a lane.Gated")
	}
	return g
}

func tryNeverWaits(h *hall) {
	l := h.gated(lane.Config{Workers: 2, Queue: 2})
	// False means only that Enter has to look, so there is no law that it succeeds.
	if s, ok := l.Try(); ok {
		if got := l.Stats().Running; got != 1 {
			h.Errorf("%d calls run, want 1", got)
		}
		l.Leave(s)
	}
	if !h.opt.Unbounded {
		h.fill()
		if _, ok := l.Try(); ok {
			h.Errorf("Try found a slot where none is free")
		}
		h.empty()
	}
	l.Seal()
	if _, ok := l.Try(); ok {
		h.Errorf("Try got into a sealed lane")
	}
}

func sealRefusesAllButMust(h *hall) {
	l := h.gated(lane.Config{Workers: 2, Queue: 2})
	in := h.enter(min(1, h.burst()-1), lane.Call{})
	l.Seal()
	h.allRefused()
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.ask(dead, lane.Call{Must: true}); !errors.Is(err, context.Canceled) {
		h.Errorf("with a cancelled context a call with Must got: %v", err)
	}
	must := h.enter(1, lane.Call{Must: true})
	h.want(inside, must...)
	h.want(inside, in...)
	l.Seal() // again
	h.allRefused()
	h.empty()
	h.allRefused()
	h.want(inside, h.enter(1, lane.Call{Must: true})...)
}

func sealRefusesTheUnaccepted(h *hall) {
	in, waiting := h.crowd()
	l, ok := h.lane.(lane.Gated)
	if !ok {
		h.Skip("the lane is not a lane.Gated")
	}
	l.Seal()
	h.settle()
	h.fails(ioerr.ErrShutdown, waiting[3:]...)
	h.want(entering, waiting[:3]...)
	h.empty()
	h.want(left, waiting[:3]...)
	h.want(left, in...)
}

func mustPassesTheBounds(h *hall) {
	l := h.gated(lane.Config{Workers: 1, Queue: 1, Waiters: 1})
	h.fillQueue(1)
	must := h.enter(3, lane.Call{Must: true})
	must = append(must, h.enter(2, lane.Call{Must: true, Policy: lane.FailFast})...)
	h.want(entering, must...)
	l.Seal()
	must = append(must, h.enter(2, lane.Call{Must: true})...)
	l.Evict(1)
	h.want(entering, must...)
	h.empty()
	h.want(left, must...)
}

func drainWaitsForTheLastCall(h *hall) {
	l := h.gated(lane.Config{Workers: 1, Queue: 1})
	in := h.enter(h.burst(), lane.Call{})
	if !h.opt.NoQueue {
		in = append(in, h.enter(1, lane.Call{})...)
	}
	l.Seal()
	ctx, cancel := context.WithCancel(context.Background())
	drain := h.async(func() error { return l.Drain(ctx) })
	h.settle()
	cancel()
	h.endsWith(context.Canceled, drain)
	drain = h.async(func() error { return l.Drain(context.Background()) })
	for _, g := range in {
		h.settle()
		if drain.returned() {
			h.Errorf("Drain returned before the last call")
		}
		g.dismiss()
		h.waitFor(g)
	}
	h.endsWith(nil, drain)
	h.endsWith(nil, h.async(func() error { return l.Drain(context.Background()) }))
}

func evictRefusesOneOwner(h *hall) {
	l := h.gated(lane.Config{Workers: 1, Queue: 1, Waiters: 8})
	in := h.fill()
	accepted := h.enter(1, lane.Call{Owner: 7})
	mine := h.enter(2, lane.Call{Owner: 7})
	others := h.enter(1, lane.Call{Owner: 8})
	nobodys := h.enter(1, lane.Call{})
	l.Evict(0)
	h.settle()
	h.want(entering, append(append(mine, others...), nobodys...)...)
	l.Evict(7)
	h.settle()
	h.fails(ioerr.ErrShutdown, mine...)
	h.want(entering, append(append(others, nobodys...), accepted...)...)
	h.want(inside, in...)
	late := h.enter(1, lane.Call{Owner: 7})
	h.settle()
	h.fails(ioerr.ErrShutdown, late...)
	l.Forget(7)
	again := h.enter(1, lane.Call{Owner: 7})
	h.settle()
	h.want(entering, again...)
	// The lane is open all the same.
	h.empty()
	if err := h.ask(context.Background(), lane.Call{Owner: 8}); err != nil {
		h.Errorf("after Evict a newcomer got: %v", err)
	}
}

func shutdownRefusesMust(h *hall) {
	h.gated(lane.Config{Workers: 1, Queue: 1})
	in := h.enter(1, lane.Call{})
	shut := h.shutdown(context.Background())
	h.closed()
	must := h.enter(1, lane.Call{Must: true})
	h.settle()
	for _, g := range append(in, must...) {
		g.dismiss()
		h.waitFor(g)
	}
	h.want(left, must...)
	h.endsWith(nil, shut)
	if err := h.ask(context.Background(), lane.Call{Must: true}); !errors.Is(err, ioerr.ErrShutdown) {
		h.Errorf("after Shutdown had returned a call with Must got: %v", err)
	}
}
