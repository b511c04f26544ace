package lanetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// carried is a Carrier as a lane whose calls come by Carry: Enter returns when the task
// runs, and Leave lets it end. So all laws are checked of Carry, too.
type carried struct {
	lane.Carrier
	h *hall

	mu     sync.Mutex // guards what follows
	visits map[lane.Slot]*visit
	last   uint64
	turn   bool
}

func newCarried(h *hall, l lane.Carrier) lane.Lane {
	c := &carried{Carrier: l, h: h, visits: make(map[lane.Slot]*visit)}
	if g, ok := l.(lane.Gated); ok {
		return &carriedGated{c, g}
	}
	return c
}

// visit is one call.
type visit struct {
	h     *hall
	runs  chan struct{} // closed when it runs
	leave chan struct{} // closed to let it end
	ended chan struct{} // closed by End
	gone  chan struct{} // closed when Carry has returned, and End if it was left
	err   error         // of Carry, settled when gone is closed
	count [3]atomic.Int32
}

// The methods of a task that are counted.
const (
	wasRun = iota
	wasLeft
	wasEnded
)

func newVisit(h *hall) *visit {
	return &visit{h: h, runs: make(chan struct{}), leave: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{})}
}

// once counts a method of a task that is to be called once.
func (v *visit) once(method int, name string) bool {
	if v.count[method].Add(1) == 1 {
		return true
	}
	v.h.Errorf("%s of a task was called again", name)
	return false
}

// Run implements [lane.Task].
func (v *visit) Run(lane.Thread) {
	if v.once(wasRun, "Run") {
		close(v.runs)
		<-v.leave
	}
}

// Ending implements [lane.Task].
func (v *visit) Ending(error) {}

// Left implements [lane.Task].
func (v *visit) Left(time.Duration) { v.once(wasLeft, "Left") }

// End implements [lane.Task].
func (v *visit) End(left bool, _ error) {
	if !v.once(wasEnded, "End") {
		return
	}
	if v.count[wasRun].Load() == 0 {
		v.h.Errorf("End of a task was called before Run")
	}
	if was := v.count[wasLeft].Load() != 0; was != left {
		v.h.Errorf("End says that the task was left: %v, it was: %v", left, was)
	}
	close(v.ended)
}

// carry has the lane carry the call and checks what it says of it.
func (v *visit) carry(ctx context.Context, l lane.Carrier, c lane.Call) {
	defer close(v.gone)
	v.err = l.Carry(ctx, c, v)
	switch left := errors.Is(v.err, ioerr.ErrLeft); {
	case left:
		if v.count[wasLeft].Load() == 0 {
			v.h.Errorf("a task was left and not told")
		}
		<-v.ended
	case v.err == nil:
		if v.count[wasEnded].Load() == 0 {
			v.h.Errorf("Carry has returned before End of its task")
		}
	case v.count[wasRun].Load() != 0:
		v.h.Errorf("Carry has run its task and returned %v", v.err)
	}
}

// Enter implements [lane.Lane].
func (l *carried) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	v := newVisit(l.h)
	go v.carry(ctx, l.way(), c)
	select {
	case <-v.runs:
	case <-v.gone:
		if v.err != nil || v.count[wasRun].Load() == 0 {
			return lane.Slot{}, v.err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	s := lane.Slot{Token: 1<<63 | l.last}
	l.visits[s] = v
	return s, nil
}

// way is how the next call comes: by Carry and, if the lane has it, by Start in turns.
func (l *carried) way() lane.Carrier {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn = !l.turn
	if s, ok := l.Carrier.(lane.Starter); ok && l.turn {
		return inTwo{s}
	}
	return l.Carrier
}

// inTwo carries by Start and Wait.
type inTwo struct{ lane.Starter }

// Carry implements [lane.Carrier].
func (l inTwo) Carry(ctx context.Context, c lane.Call, t lane.Task) error {
	started, err := l.Start(ctx, c, t)
	if err != nil {
		return err
	}
	return started.Wait()
}

// Leave implements [lane.Lane].
func (l *carried) Leave(s lane.Slot) {
	l.mu.Lock()
	v := l.visits[s]
	delete(l.visits, s)
	l.mu.Unlock()
	if v == nil { // of Try
		l.Carrier.Leave(s)
		return
	}
	close(v.leave)
	<-v.gone
}

// carriedGated is carried for a lane that is Gated.
type carriedGated struct {
	*carried
	g lane.Gated
}

// Try implements [lane.Gated].
func (l *carriedGated) Try() (lane.Slot, bool) { return l.g.Try() }

// Seal implements [lane.Gated].
func (l *carriedGated) Seal() { l.g.Seal() }

// Drain implements [lane.Gated].
func (l *carriedGated) Drain(ctx context.Context) error { return l.g.Drain(ctx) }

// Evict implements [lane.Gated].
func (l *carriedGated) Evict(owner uint64) { l.g.Evict(owner) }

// Forget implements [lane.Gated].
func (l *carriedGated) Forget(owner uint64) { l.g.Forget(owner) }

// carryAs has another task carried in place of the one it is given.
type carryAs struct {
	lane.Carrier
	t lane.Task
}

// Carry implements [lane.Carrier].
func (l carryAs) Carry(ctx context.Context, c lane.Call, _ lane.Task) error {
	return l.Carrier.Carry(ctx, c, l.t)
}

// call makes a call that does f, where the lane runs it.
func (h *hall) call(ctx context.Context, c lane.Call, f func()) error {
	if l, ok := h.bare.(lane.Carrier); ok && h.opt.Carry {
		v := newVisit(h)
		v.carry(ctx, carryAs{l, doer{v, f}}, c)
		return v.err
	}
	s, err := h.lane.Enter(ctx, c)
	if err == nil {
		f()
		h.lane.Leave(s)
	}
	return err
}

// doer is a task that does f.
type doer struct {
	*visit
	f func()
}

// Run implements [lane.Task].
func (d doer) Run(lane.Thread) {
	d.once(wasRun, "Run")
	d.f()
}
