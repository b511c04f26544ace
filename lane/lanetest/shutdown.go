package lanetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func shutdownLaws() []law {
	return []law{
		{name: "ShutdownRefusesNewcomers", check: shutdownRefusesNewcomers},
		{name: "ShutdownBeforeFirstUseClosesTheLane", check: shutdownBeforeFirstUse},
		{name: "ShutdownRefusesTheUnaccepted", needs: waiters, check: shutdownRefusesTheUnaccepted},
		{name: "ShutdownRunsTheAccepted", needs: queue, check: shutdownRunsTheAccepted},
		{name: "ShutdownWaitsForTheLastCall", check: shutdownWaitsForTheLastCall},
		{name: "ShutdownIsBoundedByItsContext", check: shutdownIsBoundedByItsContext},
		{name: "ShutdownMayBeCalledByManyAndAgain", check: shutdownByManyAndAgain},
		{name: "ACallThatMeetsShutdownRunsOrIsRefused", check: callMeetsShutdown},
		{name: "NoGoroutineIsLeft", real: true, check: noGoroutineIsLeft},
	}
}

func shutdownRefusesNewcomers(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 2, Waiters: 2})
	in := h.enter(1, lane.Call{})
	shut := h.shutdown(context.Background())
	h.closed()
	h.allRefused() // while it drains
	in[0].dismiss()
	h.await("Shutdown returns after the last call", shut.returned)
	h.allRefused()
	if got := h.lane.Stats().Started; got != 1 {
		h.Errorf("%d calls started, want the one from before Shutdown", got)
	}
}

func shutdownBeforeFirstUse(h *hall) {
	h.use(lane.Config{Workers: 1})
	shut := h.shutdown(context.Background())
	h.await("Shutdown of an unused lane returns", shut.returned)
	if shut.err != nil {
		h.Errorf("Shutdown of an unused lane: %v", shut.err)
	}
	h.allRefused()
	// An ended context bounds the waiting, not the closing.
	h.use(lane.Config{Workers: 1})
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	shut = h.shutdown(dead)
	h.await("Shutdown with an ended context returns", shut.returned)
	h.allRefused()
}

func shutdownRefusesTheUnaccepted(h *hall) {
	in, waiting := h.crowd()
	h.shutdown(context.Background())
	h.closed()
	h.fails(ioerr.ErrShutdown, waiting[3:]...)
	h.want(entering, waiting[:3]...)
	h.want(inside, in...)
}

func shutdownRunsTheAccepted(h *hall) {
	in, waiting := h.crowd()
	accepted := waiting[:3]
	shut := h.shutdown(context.Background())
	h.closed()
	h.want(entering, accepted...)
	if shut.returned() {
		h.Fatalf("Shutdown returned while %d calls ran and %d waited for their turn", len(in), len(accepted))
	}
	for _, g := range append(in, accepted...) {
		g.dismiss()
	}
	h.await("Shutdown returns after the last call", shut.returned)
	h.await("the accepted calls have ended", func() bool { return allGone(accepted) })
	h.want(left, accepted...)
	if shut.err != nil {
		h.Errorf("Shutdown: %v", shut.err)
	}
}

func shutdownWaitsForTheLastCall(h *hall) {
	h.use(lane.Config{Workers: 3, Queue: 2})
	in := h.enter(min(3, h.burst()), lane.Call{})
	shut := h.shutdown(context.Background())
	h.closed()
	for _, g := range in {
		if shut.returned() {
			h.Fatalf("Shutdown returned while %d calls ran", h.inside.Load())
		}
		g.dismiss()
		h.settle()
	}
	h.await("Shutdown returns after the last call", shut.returned)
	if shut.err != nil {
		h.Errorf("Shutdown: %v", shut.err)
	}
}

func shutdownIsBoundedByItsContext(h *hall) {
	h.use(lane.Config{Workers: 1})
	g := h.enter(1, lane.Call{})[0]

	const patience = 30 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h.endsWith(context.DeadlineExceeded, h.shutdown(ctx))
	ctx, cancel = context.WithCancel(context.Background())
	shut := h.shutdown(ctx)
	h.settle()
	cancel()
	h.endsWith(context.Canceled, shut)
	h.endsWith(context.Canceled, h.shutdown(ctx))

	h.want(inside, g)
	h.allRefused()
	again := h.shutdown(context.Background())
	h.settle()
	if again.returned() {
		h.Errorf("Shutdown returned while a call ran")
	}
	g.dismiss()
	h.endsWith(nil, again)
}

func shutdownByManyAndAgain(h *hall) {
	h.use(lane.Config{Workers: 1, Queue: 1})
	g := h.enter(1, lane.Call{})[0]
	var all []*closing
	for range 8 {
		all = append(all, h.shutdown(context.Background()))
	}
	h.closed()
	for i, c := range all {
		if c.returned() {
			h.Errorf("the Shutdown number %d returned while a call ran", i+1)
		}
	}
	g.dismiss()
	for _, c := range append(all, h.shutdown(context.Background())) {
		h.endsWith(nil, c)
	}
	h.endsWith(nil, h.shutdown(context.Background()))
}

// Eight callers race one Shutdown, on many lanes. Each gets in or is told, and
// nobody is inside when Shutdown returns.
func callMeetsShutdown(h *hall) {
	for range 100 {
		h.use(lane.Config{Workers: 8, Queue: 64})
		var wg sync.WaitGroup
		var begun, over atomic.Bool // Shutdown was called, has returned
		const many = 300_000        // take longer than a thread has to wait for a processor
		for range 8 {
			wg.Go(func() {
				for n := 0; n < many; {
					late := over.Load()
					if begun.Load() {
						n++
					}
					s, err := h.lane.Enter(h.ctx, lane.Call{})
					if err != nil {
						if !errors.Is(err, ioerr.ErrShutdown) {
							h.Errorf("a call got %v", err)
						}
						return
					}
					var order int64
					h.begin(&order)
					runtime.Gosched()
					h.end()
					h.lane.Leave(s)
					if late {
						h.Errorf("a call ran after Shutdown had returned")
						return
					}
				}
				h.Errorf("%d calls got in after Shutdown was called", many)
			})
		}
		for range 8 {
			runtime.Gosched()
		}
		h.endsWith(nil, h.async(func() error {
			begun.Store(true)
			return h.lane.Shutdown(context.Background())
		}))
		if n := h.inside.Load(); n != 0 {
			h.Errorf("%d calls ran when Shutdown returned", n)
		}
		ran := h.started.Load()
		over.Store(true)
		h.awaitAll(&wg, "everybody is told")
		if got, want := h.lane.Stats().Started, uint64(ran); got != want {
			h.Errorf("the lane started %d calls, and %d ran until Shutdown returned", got, want)
		}
		if h.Failed() {
			return
		}
	}
}

func noGoroutineIsLeft(h *hall) {
	// What earlier tests have left may still be on its way out.
	before := runtime.NumGoroutine()
	for calm := 0; calm < 20; calm++ {
		time.Sleep(time.Millisecond)
		if n := runtime.NumGoroutine(); n != before {
			before, calm = n, 0
		}
	}
	h.use(lane.Config{Workers: 2, Queue: 8, Waiters: 8})
	for range 20 {
		h.enterWith(context.Background(), lane.Call{})
	}
	h.settle()
	for i, g := range h.guests {
		if i%3 == 0 {
			g.cancel()
		}
	}
	h.empty()
	h.endsWith(nil, h.shutdown(context.Background()))
	h.await("there are as few goroutines as before the lane was made", func() bool { return runtime.NumGoroutine() <= before })
}
