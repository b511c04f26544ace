package lanetest

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/iolane/iolane/lane"
)

func slotLaws() []law {
	return []law{
		{name: "NeverMoreCallsThanSlots", needs: bound, check: neverMoreCallsThanSlots},
		{name: "ABurstFillsEverySlot", check: aBurstFillsEverySlot},
		{name: "NoSlotIdlesWhileACallWaits", needs: queue, check: noSlotIdlesWhileACallWaits},
		{name: "EnterReturnsASlotOrAnErrorNeverBoth", check: slotOrErrorNeverBoth},
		{name: "APanickingCallCostsNoSlot", check: aPanickingCallCostsNoSlot},
		{name: "CallsThatBlockTheirThreadsKeepTheBound", needs: bound, real: true, check: blockingCallsKeepTheBound},
		{name: "LanesCanBeCompared", check: lanesCanBeCompared},
		{name: "CapabilitiesAreTrue", check: capabilitiesAreTrue},
	}
}

// Callers come, go, and lose patience, and all the while the calls themselves
// count how many they are.
func neverMoreCallsThanSlots(h *hall) {
	for _, workers := range []int{1, 4} {
		h.use(lane.Config{Workers: workers, Queue: 64, Waiters: 64})
		var wg sync.WaitGroup
		for range 4 * h.slots {
			wg.Go(func() {
				for range 50 {
					ctx, cancel := context.WithCancel(h.ctx)
					if rand.IntN(2) == 0 {
						go cancel()
					}
					if s, err := h.lane.Enter(ctx, lane.Call{NoWait: rand.IntN(4) == 0}); err == nil {
						var order int64
						h.begin(&order)
						for range rand.IntN(3) {
							runtime.Gosched()
						}
						h.end()
						h.lane.Leave(s)
					}
					cancel()
				}
			})
		}
		h.awaitAll(&wg, "the callers come to an end")
		if got := h.peak.Load(); got > int64(h.slots) {
			h.Errorf("%d calls ran at a time, in %d slots", got, h.slots)
		}
		// What went on must not have made slots either.
		for range h.slots + 1 {
			h.enterWith(context.Background(), lane.Call{})
		}
		h.settle()
		if got := h.inside.Load(); got > int64(h.slots) {
			h.Errorf("%d calls run at a time, in %d slots", got, h.slots)
		}
	}
}

// Calls that wait for one another inside must all be let in.
func aBurstFillsEverySlot(h *hall) {
	h.use(lane.Config{Workers: 4, Queue: 8})
	for range h.rounds(40) {
		for range h.burst() {
			h.enterWith(context.Background(), lane.Call{})
		}
		h.await("all calls of a burst are inside", func() bool { return h.inside.Load() == int64(h.burst()) })
		h.empty()
	}
}

// burst is a number of calls that run at a time.
func (h *hall) burst() int {
	if h.opt.Unbounded {
		return 64
	}
	return h.slots
}

func noSlotIdlesWhileACallWaits(h *hall) {
	for _, workers := range []int{1, 4} {
		h.use(lane.Config{Workers: workers, Queue: 16})
		all := h.enter(h.slots+16, lane.Call{})
		for i, g := range all {
			here := min(h.slots, len(all)-i)
			h.await("as many calls run as there are slots or callers", func() bool { return h.inside.Load() == int64(here) })
			g.dismiss()
			h.waitFor(g)
		}
	}
}

// Every kind of refusal comes without a slot, so that nobody can run on it.
func slotOrErrorNeverBoth(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 1, Waiters: 1})
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	guests := []*guest{h.enterWith(dead, lane.Call{})}
	h.settle()
	if !h.opt.Unbounded {
		in := h.fill()
		guests = append(guests, h.enterWith(dead, lane.Call{}), h.enterWith(context.Background(), lane.Call{NoWait: true}))
		h.settle()
		wait := h.enter(2, lane.Call{})
		guests = append(guests, wait...)
		guests = append(guests, h.enter(3, lane.Call{})...)
		guests = append(guests, h.enter(3, lane.Call{Policy: lane.FailFast})...)
		for _, g := range wait {
			g.cancel()
		}
		h.settle()
		for _, g := range in {
			g.dismiss()
		}
	}
	h.settle()
	shut := h.shutdown(context.Background())
	h.await("the lane is shut", shut.returned)
	guests = append(guests, h.enterWith(context.Background(), lane.Call{}), h.enterWith(dead, lane.Call{}))
	h.settle()
	n := 0
	for _, g := range guests {
		if g.phase() != refused {
			continue
		}
		n++
		if g.both {
			h.Errorf("Enter returned a slot together with the error %v", g.err)
		}
	}
	if n == 0 {
		h.Errorf("nobody was refused")
	}
}

// A call that panics or ends its goroutine leaves by defer, as every caller of
// Enter should.
func aPanickingCallCostsNoSlot(h *hall) {
	h.use(lane.Config{Workers: 1})
	for i := range 200 {
		var err error
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { _ = recover() }()
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			var s lane.Slot
			if s, err = h.lane.Enter(ctx, lane.Call{}); err != nil {
				return
			}
			defer h.lane.Leave(s)
			if i%2 == 0 {
				panic("a call")
			}
			runtime.Goexit()
		})
		wg.Wait()
		if err != nil {
			h.Fatalf("the call after %d others got: %v", i, err)
		}
	}
	if got := h.lane.Stats().Running; got != 0 {
		h.Errorf("%d calls run after the last has left", got)
	}
	h.allSlotsServe()
}

// empty lets everybody leave.
func (h *hall) empty() {
	h.Helper()
	for _, g := range h.guests {
		g.dismiss()
	}
	h.await("everybody has left", func() bool { return allGone(h.guests) })
	h.guests = nil
}

// allSlotsServe checks that no slot was lost.
func (h *hall) allSlotsServe() {
	h.Helper()
	h.empty()
	n := h.burst()
	h.enter(n, lane.Call{})
	h.await("every slot serves a call", func() bool { return h.inside.Load() == int64(n) })
	h.empty()
}

func allGone(guests []*guest) bool {
	return !slices.ContainsFunc(guests, func(g *guest) bool { return !g.hasGone() })
}

// awaitAll waits for goroutines of a law that are no guests.
func (h *hall) awaitAll(wg *sync.WaitGroup, what string) {
	h.Helper()
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
		h.Fatalf("not so after %v: %s", limit, what)
	}
}

// A pool recognises calls from inside the same lane by ==.
func lanesCanBeCompared(h *hall) {
	defer func() {
		if r := recover(); r != nil {
			h.Errorf("comparing the lane: %v", r)
		}
	}()
	h.use(lane.Config{Workers: 1})
	first := h.lane
	h.use(lane.Config{Workers: 1})
	if same := first; same != first {
		h.Errorf("a lane is not equal to itself")
	}
	if first == h.lane {
		h.Errorf("two lanes are equal")
	}
}

// What can be seen from outside of a lane's promise: it is one of those that
// exist, it does not change, and a call keeps its slot until it leaves, also when
// its context has ended.
func capabilitiesAreTrue(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 1})
	c := h.lane.Capabilities()
	if c.Execution < lane.Guaranteed || c.Execution > lane.Abandons {
		h.Errorf("Execution is %d, none of the promises", c.Execution)
	}
	if h.lane.Stats().Name != h.lane.Name() {
		h.Errorf("the lane is called %q and its statistics %q", h.lane.Name(), h.lane.Stats().Name)
	}
	g := h.enter(h.burst(), lane.Call{})[0]
	g.cancel()
	h.settle()
	h.want(inside, g)
	if got, want := h.lane.Stats().Running, h.burst(); got != want {
		h.Errorf("%d calls run, want %d", got, want)
	}
	if !h.opt.Unbounded {
		if err := h.ask(context.Background(), lane.Call{NoWait: true}); err == nil {
			h.Errorf("a slot was given away while its call ran, since the call's context had ended")
		}
	}
	if again := h.lane.Capabilities(); again != c {
		h.Errorf("Capabilities changed from %+v to %+v", c, again)
	}
}
