package lane

import (
	"context"
	"errors"

	"github.com/iolane/iolane/internal/pinned"
	"github.com/iolane/iolane/ioerr"
)

// handed is a call on its way: its tasks as those of package pinned, the slot that they
// have, and their job.
type handed struct {
	tasks []pinnedTask
	list  []pinned.Task // the same

	lane *Pinned
	slot Slot
	job  *pinned.Job // of Start
}

type pinnedTask struct{ Task }

// Run implements [pinned.Task].
func (t *pinnedTask) Run(on *pinned.Thread) { t.Task.Run(Thread{on, on.Seq()}) }

// Carry implements [Carrier]. Beside the errors of Enter on other lanes there is the
// *ioerr.StartError. A call that panics is for the task to recover.
func (l *Pinned) Carry(ctx context.Context, c Call, t Task) error {
	_, err := l.CarryBatch(ctx, c, []Task{t})
	return err
}

// Start implements [Starter].
func (l *Pinned) Start(ctx context.Context, c Call, t Task) (Started, error) {
	h, err := l.admit(ctx, &c, []Task{t})
	if err != nil {
		return nil, err
	}
	if h.job, err = l.own.Put(h.list, c.NoWait); err != nil {
		h.settle(0, err)
		h.end(0, nil)
		return nil, err
	}
	return h, nil
}

// Wait implements [Started].
func (h *handed) Wait() error {
	n, faults, why := h.lane.own.Wait(h.job)
	h.settle(n, why)
	h.end(n, faults)
	return why
}

// CarryBatch is Carry for tasks that run one after another on one thread, in one slot,
// for the price of one wake-up. If one of them taints its thread or ends it, those behind
// it run on another. The first n have run, and End was called for them, after the last
// one; the others never will. The error, which says why, is nil if all have run.
func (l *Pinned) CarryBatch(ctx context.Context, c Call, tasks []Task) (n int, err error) {
	h, err := l.admit(ctx, &c, tasks)
	if err != nil {
		return 0, err
	}
	var faults error
	defer func() { h.end(n, faults) }()
	n, faults, err = h.hand(ctx, c.NoWait)
	return n, err
}

// admit gets the slot.
func (l *Pinned) admit(ctx context.Context, c *Call, tasks []Task) (*handed, error) {
	slot, err := l.gated.Enter(ctx, *c)
	if err != nil {
		return nil, err
	}
	l.tail(1)
	h := l.pack(tasks)
	h.lane, h.slot = l, slot
	return h, nil
}

// hand has the tasks run and gives back the slot, also if the caller's context panics.
func (h *handed) hand(ctx context.Context, inside bool) (n int, faults, why error) {
	why = context.Canceled // for one that panics
	defer func() { h.settle(n, why) }()
	return h.lane.own.Hand(ctx, h.list, inside)
}

// settle gives back the slot when so many tasks have run.
func (h *handed) settle(n int, why error) {
	switch {
	case n > 0 || why == nil:
	case errors.Is(why, ioerr.ErrReentry):
		h.lane.reentered.Add(1)
	default:
		h.lane.dropped.Add(1)
	}
	h.lane.Leave(h.slot)
}

// end ends the tasks that have run. Nobody uses h afterwards.
func (h *handed) end(n int, faults error) {
	l := h.lane
	defer l.tail(-1)
	for i := range n {
		h.tasks[i].End(false, faultOf(faults, i))
	}
	l.unpack(h)
}

// faultOf is what went wrong with the thread after the task at place i.
func faultOf(faults error, i int) error {
	switch e := faults.(type) { //nolint:errorlint // the tree is that of package pinned
	case *ioerr.RestoreError:
		if e.Task == i {
			return e
		}
	case interface{ Unwrap() []error }:
		var mine []error
		for _, err := range e.Unwrap() {
			mine = append(mine, faultOf(err, i))
		}
		return errors.Join(mine...)
	}
	return nil
}

func (l *Pinned) pack(tasks []Task) *handed {
	h, _ := l.cache.Get().(*handed)
	if h == nil || cap(h.tasks) < len(tasks) {
		h = &handed{tasks: make([]pinnedTask, len(tasks)), list: make([]pinned.Task, len(tasks))}
		for i := range h.tasks {
			h.list[i] = &h.tasks[i]
		}
	}
	h.tasks, h.list = h.tasks[:len(tasks)], h.list[:len(tasks)]
	for i, t := range tasks {
		h.tasks[i].Task = t
	}
	return h
}

// unpack takes back what nobody uses any more.
func (l *Pinned) unpack(h *handed) {
	clear(h.tasks)
	h.lane, h.slot, h.job = nil, Slot{}, nil
	l.cache.Put(h)
}
