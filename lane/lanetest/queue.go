package lanetest

import (
	"context"
	"errors"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func queueLaws() []law {
	return []law{
		{name: "QueueBoundIsExact", needs: bound, check: queueBoundIsExact},
		{name: "WaitersBoundIsExact", needs: queue, check: waitersBoundIsExact},
		{name: "FailFastNeverWaitsForAcceptance", needs: queue, check: failFastNeverWaits},
		{name: "PolicyOfTheCallBeatsThatOfTheLane", needs: waiters, check: callPolicyBeatsLanePolicy},
		{name: "AcceptanceHasADeadlineOfItsOwn", needs: waiters, check: acceptanceHasItsOwnDeadline},
		{name: "AnAcceptedCallForgetsItsAcceptanceDeadline", needs: queue, check: acceptedForgetsDeadline},
		{name: "NoWaitTakesAFreeSlotOrNothing", needs: bound, check: noWaitTakesAFreeSlotOrNothing},
	}
}

// fails checks that guests were refused with target, and not only will be.
func (h *hall) fails(target error, guests ...*guest) {
	h.Helper()
	h.want(refused, guests...)
	for i, g := range guests {
		if !errors.Is(g.err, target) {
			h.Errorf("guest %d of %d got the error %q, want %q", i+1, len(guests), g.err, target)
		}
	}
}

// fillQueue fills the slots and a queue of n places.
func (h *hall) fillQueue(n int) (in, queued []*guest) {
	h.Helper()
	in = h.fill()
	queued = h.enter(n, lane.Call{Policy: lane.FailFast})
	h.want(entering, queued...)
	return in, queued
}

func queueBoundIsExact(h *hall) {
	sizes := []int{0, 1, 3}
	if h.opt.NoQueue {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		h.use(lane.Config{Workers: 2, Queue: orNone(size, lane.NoQueue), Waiters: 2})
		in, queued := h.fillQueue(size)
		h.fails(ioerr.ErrQueueFull, h.enter(2, lane.Call{Policy: lane.FailFast})...)
		h.want(entering, queued...)
		if h.opt.NoQueue {
			extra := h.enter(1, lane.Call{Policy: lane.Wait})[0]
			h.want(refused, extra)
			if !full(extra.err) {
				h.Errorf("without a free slot the error is %q", extra.err)
			}
		}
		if size > 0 {
			// One runs, so one has room; and only one.
			in[0].dismiss()
			h.settle()
			h.want(inside, queued[0])
			h.want(entering, h.enter(1, lane.Call{Policy: lane.FailFast})...)
			h.fails(ioerr.ErrQueueFull, h.enter(1, lane.Call{Policy: lane.FailFast})...)
		}
	}
}

func orNone(n, none int) int {
	if n == 0 {
		return none
	}
	return n
}

// A lane without waiters keeps this law with none.
func waitersBoundIsExact(h *hall) {
	for _, size := range []int{0, 1, 3} {
		if h.opt.NoWaiters && size > 0 {
			continue
		}
		h.use(lane.Config{Workers: 1, Queue: 2, Waiters: orNone(size, lane.NoWaiters)})
		in, queued := h.fillQueue(2)
		room := h.enter(size, lane.Call{Policy: lane.Wait})
		h.want(entering, room...)
		extra := h.enter(2, lane.Call{Policy: lane.Wait})
		h.want(refused, extra...)
		for _, g := range extra {
			if !h.opt.NoWaiters && !errors.Is(g.err, ioerr.ErrOverloaded) || !full(g.err) {
				h.Errorf("with the queue and %d waiters in place the error is %q, want %q", size, g.err, ioerr.ErrOverloaded)
			}
		}
		if size == 0 {
			continue
		}
		// One runs, so one is accepted, so there is room for one more.
		in[0].dismiss()
		h.settle()
		h.want(inside, queued[0])
		h.want(entering, h.enter(1, lane.Call{Policy: lane.Wait})...)
		h.fails(ioerr.ErrOverloaded, h.enter(1, lane.Call{Policy: lane.Wait})...)
		h.fails(ioerr.ErrQueueFull, h.enter(1, lane.Call{Policy: lane.FailFast})...)
	}
}

func failFastNeverWaits(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 1, Waiters: 4, Policy: lane.FailFast})
	in, queued := h.fillQueue(1)
	h.fails(ioerr.ErrQueueFull, h.enter(2, lane.Call{})...)
	h.fails(ioerr.ErrQueueFull, h.enter(2, lane.Call{Policy: lane.FailFast, Accept: time.Now().Add(time.Hour)})...)
	in[0].dismiss()
	h.settle()
	h.want(inside, queued[0])
}

func callPolicyBeatsLanePolicy(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 1, Waiters: 4, Policy: lane.FailFast})
	h.fillQueue(1)
	h.want(entering, h.enter(1, lane.Call{Policy: lane.Wait})...)
	h.use(lane.Config{Workers: 1, Queue: 1, Waiters: 4, Policy: lane.Wait})
	h.fillQueue(1)
	h.fails(ioerr.ErrQueueFull, h.enter(1, lane.Call{Policy: lane.FailFast})...)
	h.want(entering, h.enter(1, lane.Call{})...)
}

func acceptanceHasItsOwnDeadline(h *hall) {
	patience := h.while(50 * time.Millisecond)
	h.use(lane.Config{Workers: 1, Queue: 1, Waiters: 2})
	_, queued := h.fillQueue(1)

	began := time.Now()
	call := lane.Call{Policy: lane.Wait, Accept: began.Add(patience)}
	g := h.enter(1, call)[0]
	h.want(entering, g)
	h.waitFor(g)
	if d := time.Since(began); d < patience || h.bubble && d > patience {
		h.Errorf("the caller was refused after %v, want %v", d, patience)
	}
	h.fails(ioerr.ErrAcceptTimeout, g)
	if errors.Is(g.err, context.DeadlineExceeded) || errors.Is(g.err, context.Canceled) {
		h.Errorf("the error %q speaks of a context, and none has ended", g.err)
	}
	// It has left its place, and who has no time does not even wait.
	h.fails(ioerr.ErrAcceptTimeout, h.enter(1, lane.Call{Policy: lane.Wait, Accept: began})...)
	h.want(entering, h.enter(2, lane.Call{Policy: lane.Wait})...)
	h.want(entering, queued...)
}

func acceptedForgetsDeadline(h *hall) {
	patience := h.while(50 * time.Millisecond)
	h.use(lane.Config{Workers: 1, Queue: 1, Waiters: 1})
	in := h.fill()
	call := lane.Call{Accept: time.Now().Add(patience)}
	queued := h.enter(1, call)
	promoted := 0
	if !h.opt.NoWaiters {
		// Accepted only after a wait.
		queued = append(queued, h.enter(1, call)...)
		in[0].dismiss()
		h.settle()
		promoted = 1
	}
	time.Sleep(2 * patience)
	h.settle()
	last := queued[promoted]
	h.want(entering, last)
	for _, g := range h.guests {
		g.dismiss()
	}
	h.await("the accepted call has run", func() bool { return last.phase() == left })
}

// waitFor waits for a guest that needs time only.
func (h *hall) waitFor(g *guest) {
	h.Helper()
	select {
	case <-g.gone:
	case <-time.After(limit):
		h.Fatalf("a guest is still %v after %v", g.phase(), limit)
	}
}

func noWaitTakesAFreeSlotOrNothing(h *hall) {
	for _, policy := range []lane.Policy{lane.Wait, lane.FailFast} {
		h.use(lane.Config{Workers: 2, Queue: 4, Waiters: 4, Policy: policy})
		in := h.fill()
		h.fails(ioerr.ErrReentry, h.enter(2, lane.Call{NoWait: true})...)
		in[0].dismiss()
		h.waitFor(in[0])
		h.want(inside, h.enter(1, lane.Call{NoWait: true})...)
	}
}
