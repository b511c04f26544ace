package lanetest

import (
	"context"
	"runtime"

	"github.com/iolane/iolane/lane"
)

// carryLaws are about Carry itself, whichever way the guests come.
func carryLaws() []law {
	return []law{
		{name: "ACarriedTaskRunsOnceAndEndsWithoutItsSlot", check: carriedTaskEndsOnce},
		{name: "ARefusedTaskIsNotTouched", check: refusedTaskIsNotTouched},
		{name: "ATaskThatEndsItsGoroutineCostsNoSlot", check: goexitCostsNoSlot},
		{name: "StartWaitsForNoTask", check: startWaitsForNoTask},
	}
}

// carrier opens the lane and returns it as it is, or skips the law.
func (h *hall) carrier(c lane.Config) lane.Carrier {
	h.Helper()
	h.use(c)
	l, ok := h.bare.(lane.Carrier)
	if !ok {
		h.Skip("the lane is not a lane.Carrier")
	}
	return l
}

// tail is a visit whose End looks whether the slot is free.
type tail struct {
	*visit
	free func() bool
}

// End implements [lane.Task].
func (t tail) End(left bool, err error) {
	if !t.free() {
		t.h.Errorf("End was called before the slot was given back")
	}
	t.visit.End(left, err)
}

func carriedTaskEndsOnce(h *hall) {
	l := h.carrier(lane.Config{Workers: 1, Queue: 1})
	for range 3 {
		v := newVisit(h)
		go v.carry(context.Background(), carryAs{l, tail{v, func() bool { return l.Stats().Running == 0 }}}, lane.Call{})
		h.await("the task runs", v.isRunning)
		if got := l.Stats().Running; got != 1 {
			h.Errorf("%d calls run, want 1", got)
		}
		close(v.leave)
		h.await("Carry returns after the task", v.hasGone)
		if v.err != nil {
			h.Errorf("Carry returned %v", v.err)
		}
	}
	if got := l.Stats().Completed; got != 3 {
		h.Errorf("%d calls completed, want 3", got)
	}
}

func (v *visit) isRunning() bool { return isClosed(v.runs) }
func (v *visit) hasGone() bool   { return isClosed(v.gone) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func refusedTaskIsNotTouched(h *hall) {
	l := h.carrier(lane.Config{Workers: 1, Queue: 2})
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	refused := func(ctx context.Context, c lane.Call) {
		h.Helper()
		v := newVisit(h)
		if err := l.Carry(ctx, c, v); err == nil {
			h.Errorf("Carry returned nil where no call can run")
		}
		if s, ok := l.(lane.Starter); ok {
			if started, err := s.Start(ctx, c, v); err == nil || started != nil {
				h.Errorf("Start returned %v, %v where no call can run", started, err)
			}
		}
		for method := range v.count {
			if v.count[method].Load() != 0 {
				h.Errorf("a method of a task was called that was refused")
			}
		}
	}
	refused(dead, lane.Call{})
	if !h.opt.Unbounded {
		h.fill()
		refused(context.Background(), lane.Call{NoWait: true})
		h.empty()
	}
	h.endsWith(nil, h.shutdown(context.Background()))
	refused(context.Background(), lane.Call{})
	refused(dead, lane.Call{})
}

func goexitCostsNoSlot(h *hall) {
	l := h.carrier(lane.Config{Workers: 2, Queue: 2})
	for range 20 {
		v := newVisit(h)
		go v.carry(context.Background(), carryAs{l, doer{v, runtime.Goexit}}, lane.Call{})
		h.await("Carry returns when its task has ended its goroutine", v.hasGone)
		if v.err != nil {
			h.Errorf("Carry returned %v", v.err)
		}
	}
	if got := l.Stats().Running; got != 0 {
		h.Errorf("%d calls run after the last has ended", got)
	}
	h.allSlotsServe()
}

// startWaitsForNoTask: as many calls are started as there are slots, by one caller, while
// none of them can end.
func startWaitsForNoTask(h *hall) {
	l := h.carrier(lane.Config{Workers: 3, Queue: 1})
	s, ok := l.(lane.Starter)
	if !ok {
		h.Skip("the lane is not a lane.Starter")
	}
	for range 3 {
		visits := make([]*visit, h.slots)
		for i := range visits {
			visits[i] = newVisit(h)
		}
		all := make(chan struct{})
		go func() {
			defer close(all)
			for _, v := range visits {
				v.start(s)
			}
		}()
		h.await("all calls are started", func() bool { return isClosed(all) })
		if got := l.Stats().Running; got != h.slots {
			h.Errorf("%d calls run after %d were started", got, h.slots)
		}
		for _, v := range visits {
			close(v.leave)
			h.await("Wait returns when its task has ended", v.hasGone)
		}
	}
	h.allSlotsServe()
}

// start has the lane start the call, and waits for it elsewhere.
func (v *visit) start(l lane.Starter) {
	started, err := l.Start(context.Background(), lane.Call{}, v)
	if err != nil {
		v.h.Errorf("Start returned %v where a slot is free", err)
		close(v.gone)
		return
	}
	go func() {
		defer close(v.gone)
		if err := started.Wait(); err != nil || v.count[wasEnded].Load() == 0 {
			v.h.Errorf("Wait returned %v, and End was called %d times", err, v.count[wasEnded].Load())
		}
	}()
}
