package lanetest

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/iolane/iolane/lane"
)

func orderLaws() []law {
	return []law{
		{name: "QueueIsServedInOrder", needs: queue, check: queueIsServedInOrder},
		{name: "WaitersAreAcceptedInOrder", needs: waiters, check: waitersAreAcceptedInOrder},
		{name: "StrictMeansThatNobodyOvertakes", needs: queue, check: strictMeansNobodyOvertakes},
		{name: "NobodyOvertakesWhoHasLostPatience", needs: queue, check: patienceEndsOvertaking},
		{name: "NobodyStarves", needs: queue, real: true, check: nobodyStarves},
	}
}

// serve lets queued guests go as soon as they get in, and checks that they began
// in the order in which they stand in want. One slot at a time changes hands, so
// that the calls begin one by one.
func (h *hall) serve(want []*guest) {
	h.Helper()
	for _, g := range want {
		g.dismiss()
	}
	h.await("everybody has been served", func() bool { return allGone(want) })
	h.want(left, want...)
	first := want[0].order
	for i, g := range want {
		if got, want := g.order-first, int64(i); got != want {
			h.Errorf("the caller that came as number %d was served as number %d", want, got)
		}
	}
}

func queueIsServedInOrder(h *hall) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		h.use(lane.Config{Workers: 1, Queue: 16, Patience: patience})
		in, queued := h.fillQueue(16)
		in[0].dismiss()
		h.serve(queued)
	}
}

func waitersAreAcceptedInOrder(h *hall) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		h.use(lane.Config{Workers: 1, Queue: 2, Waiters: 8, Patience: patience})
		in, all := h.fillQueue(2)
		all = append(all, h.enter(8, lane.Call{Policy: lane.Wait})...)
		all[3].cancel()
		all[7].cancel()
		h.settle()
		h.want(refused, all[3], all[7])
		all = append(all[:7], all[8:]...)
		all = append(all[:3], all[4:]...)
		in[0].dismiss()
		h.serve(all)
	}
}

// cutIn gives back a slot and at once tries for it again, which nobody can beat
// who has to be woken first.
func (h *hall) cutIn(s lane.Slot) bool {
	h.lane.Leave(s)
	s, err := h.lane.Enter(context.Background(), lane.Call{NoWait: true})
	if err == nil {
		h.lane.Leave(s)
	}
	return err == nil
}

func strictMeansNobodyOvertakes(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 4, Patience: lane.Strict})
	for range h.rounds(50) {
		mine := h.take(lane.Call{})
		h.enter(h.slots-1, lane.Call{})
		queued := h.enter(3, lane.Call{})
		h.want(entering, queued...)
		if h.cutIn(mine) {
			h.Fatalf("a newcomer overtook three callers in the queue")
		}
		h.serve(queued)
		h.empty()
	}
}

func patienceEndsOvertaking(h *hall) {
	const patience = 5 * time.Millisecond
	h.use(lane.Config{Workers: 1, Queue: 4, Patience: patience})
	for range h.rounds(10) {
		mine := h.take(lane.Call{})
		h.enter(h.slots-1, lane.Call{})
		queued := h.enter(3, lane.Call{})
		h.want(entering, queued...)
		time.Sleep(4 * patience)
		h.settle()
		if h.cutIn(mine) {
			h.Fatalf("a newcomer overtook callers that had waited for %v, which is more than %v", 4*patience, patience)
		}
		h.serve(queued)
		h.empty()
	}
}

// Newcomers that never pause must not keep a waiter out.
func nobodyStarves(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 64, Patience: 2 * time.Millisecond})
	var wg sync.WaitGroup
	for range h.slots + 4 {
		wg.Go(func() {
			for h.ctx.Err() == nil {
				s, err := h.lane.Enter(h.ctx, lane.Call{NoWait: true})
				runtime.Gosched()
				if err == nil {
					h.lane.Leave(s)
				}
			}
		})
	}
	for range 10 {
		mine := h.take(lane.Call{})
		g := h.enterWith(context.Background(), lane.Call{})
		g.dismiss()
		h.settle()
		h.lane.Leave(mine)
		h.waitFor(g)
		h.want(left, g)
	}
	h.cancel()
	h.awaitAll(&wg, "the newcomers have stopped")
}
