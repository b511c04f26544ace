package lanetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/iolane/iolane/lane"
)

// leavingLaws are about callers whose context ends before their call begins.
func leavingLaws() []law {
	return []law{
		{name: "DeadOnArrivalNeverRuns", check: deadOnArrivalNeverRuns},
		{name: "ACallerThatGivesUpReturnsAtOnce", needs: queue, check: giverUpReturnsAtOnce},
		{name: "ACallerThatGivesUpFreesItsPlace", needs: queue, check: giverUpFreesItsPlace},
		{name: "ACallerThatGivesUpNeverRuns", needs: queue, check: giverUpNeverRuns},
		{name: "OthersKeepTheirOrderWhenOneGivesUp", needs: queue, check: othersKeepTheirOrder},
		{name: "ASlotGrantedToACallerThatGivesUpIsPassedOn", needs: queue, check: grantIsPassedOn},
		{name: "AStormOfCancellationsCostsNoSlot", needs: queue, check: cancelStormCostsNoSlot},
	}
}

func deadOnArrivalNeverRuns(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 1})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for kind, c := range kinds() {
		for _, ctx := range []context.Context{cancelled, expired} {
			if err := h.ask(ctx, c); !errors.Is(err, ctx.Err()) {
				h.Errorf("where a slot is free a %s call got: %v, want: %v", kind, err, ctx.Err())
			}
		}
	}
	if got := h.lane.Stats().Started; got != 0 {
		h.Errorf("%d calls started", got)
	}
	h.allSlotsServe()
}

// crowd fills the lane: a queue of three, and two waiters if the lane has any.
func (h *hall) crowd() (in, waiting []*guest) {
	h.Helper()
	h.use(lane.Config{Workers: 1, Queue: 3, Waiters: 2})
	in, waiting = h.fillQueue(3)
	if !h.opt.NoWaiters {
		waiting = append(waiting, h.enter(2, lane.Call{Policy: lane.Wait})...)
		h.want(entering, waiting...)
	}
	return in, waiting
}

func giverUpReturnsAtOnce(h *hall) {
	in, waiting := h.crowd()
	for i := len(waiting) - 1; i >= 0; i -= 2 {
		waiting[i].cancel()
		h.settle()
		h.fails(context.Canceled, waiting[i])
	}
	const patience = 20 * time.Millisecond
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g := h.enterWith(ctx, lane.Call{})
	h.settle()
	h.waitFor(g)
	if d := time.Since(began); h.bubble && d != patience {
		h.Errorf("the caller returned after %v, when its deadline was in %v", d, patience)
	}
	h.fails(context.DeadlineExceeded, g)
	h.want(inside, in...)
}

func giverUpFreesItsPlace(h *hall) {
	_, waiting := h.crowd()
	for i := range waiting {
		waiting[i].cancel()
		h.settle()
		// Accepted callers move up, so that the free place is at the end.
		fresh := h.enterWith(context.Background(), lane.Call{})
		h.settle()
		h.want(entering, fresh)
		extra := h.enterWith(context.Background(), lane.Call{})
		h.settle()
		h.want(refused, extra)
	}
}

func giverUpNeverRuns(h *hall) {
	in, waiting := h.crowd()
	for _, g := range waiting[1:] {
		g.cancel()
	}
	h.settle()
	for _, g := range in {
		g.dismiss()
	}
	h.settle()
	h.want(inside, waiting[0])
	waiting[0].dismiss()
	h.await("the only caller that stayed has run", func() bool { return waiting[0].phase() == left })
	for _, g := range waiting[1:] {
		if g.order != 0 {
			h.Errorf("a call ran after its caller had given up")
		}
	}
	h.allSlotsServe()
}

func othersKeepTheirOrder(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 40})
	in, queued := h.fillQueue(40)
	var stay []*guest
	for i, g := range queued {
		if i%3 == 1 || i == 39 {
			g.cancel()
		} else {
			stay = append(stay, g)
		}
	}
	h.settle()
	in[0].dismiss()
	h.serve(stay)
}

// The slot is given back and the head of the queue gives up in the same moment,
// in either order. Whoever stands behind it must get the slot.
func grantIsPassedOn(h *hall) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		c := lane.Config{Workers: 1, Queue: 4, Patience: patience}
		h.use(c)
		for i := range h.rounds(300) {
			mine := h.take(lane.Call{})
			h.meet(i, mine)
			h.empty()
		}
		h.allSlotsServe()
		// The same while the lane closes.
		for i := range h.rounds(60) {
			h.use(c)
			mine := h.take(lane.Call{})
			h.meet(i, mine, func() {
				h.shutdown(context.Background())
				h.closed()
			})
		}
	}
}

// meet lets two callers queue up behind full slots, mine among them, and then lets
// mine go and the first of the two give up; how depends on i.
func (h *hall) meet(i int, mine lane.Slot, before ...func()) {
	h.Helper()
	h.enter(h.slots-1, lane.Call{})
	first, second := h.enter(1, lane.Call{})[0], h.enter(1, lane.Call{})[0]
	for _, f := range before {
		f()
	}
	first.dismiss()
	switch i % 3 {
	case 0:
		h.lane.Leave(mine)
		first.cancel()
	case 1:
		first.cancel()
		h.lane.Leave(mine)
	case 2:
		go first.cancel()
		runtime.Gosched()
		h.lane.Leave(mine)
	}
	h.await("the slot has found the caller behind", func() bool { return second.phase() == inside })
	if i%3 == 1 && first.order != 0 {
		h.Fatalf("a call began after its context had ended")
	}
}

// Most of a crowd gives up while slots are given back, so that many a slot is on
// its way to somebody who leaves.
func cancelStormCostsNoSlot(h *hall) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		h.use(lane.Config{Workers: 2, Queue: 100, Waiters: 100, Patience: patience})
		for range h.rounds(10) {
			slots := make([]lane.Slot, h.slots)
			for i := range slots {
				slots[i] = h.take(lane.Call{})
			}
			storm := make([]*guest, 64)
			for i := range storm {
				storm[i] = h.enterWith(context.Background(), lane.Call{})
				storm[i].dismiss()
			}
			h.settle()
			for n, i := range rand.Perm(len(storm)) {
				if n%8 == 0 && len(slots) > 0 {
					h.lane.Leave(slots[0])
					slots = slots[1:]
				}
				if n%2 == 0 {
					storm[i].cancel()
				} else {
					go storm[i].cancel()
				}
			}
			for _, s := range slots {
				h.lane.Leave(s)
			}
			h.empty()
			for _, g := range storm {
				if g.phase() == refused && !errors.Is(g.err, context.Canceled) {
					h.Errorf("a caller that gave up got %q", g.err)
				}
			}
		}
		h.allSlotsServe()
	}
}
