package pool

import (
	"container/heap"
	"context"
	"math"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// After makes a call a member of the group that begins when d has passed, at once if d is
// not positive. Until then it takes no slot, no room (Limit) and no goroutine, but some
// 50 bytes beside fn. Then it waits for room and for the lane as a call of [Group.Go] does, in the
// order of those times.
//
// What it is refused with then is an error of the group, since there is nobody else to be
// told: also if ctx has ended meanwhile. Cancel, and so an error without CollectAll, drops
// all calls whose time has not come.
func (g *Group) After(ctx context.Context, d time.Duration, fn func(context.Context) error, opts ...Option) error {
	if g.core == nil {
		return argument("g", "pool.Group", "was not made by Pool.Group")
	}
	if err := new(stay).check(ctx, g.core, lacks(fn == nil, "fn")); err != nil {
		return err
	}
	x := alarm{ctx: g.base(ctx), fn: fn}
	if len(opts) > 0 {
		own := opts
		x.opts = &own
	}
	if cause := g.wait(x, d); cause != nil {
		return g.calledOff(cause, opts)
	}
	return nil
}

// wait has an alarm wait for its time, unless the group is called off: then it says by what.
func (g *Group) wait(x alarm, d time.Duration) (cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return g.cause
	}
	g.n++
	g.alarms.add(x, d)
	return nil
}

// Sleep pauses its caller for d. ctx ends it early, with its cause as an *ioerr.Error. The
// caller keeps what it holds: inside a call that is a slot; use [Group.After] not to. A fiber
// sleeps by an operation, see package file.
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx == nil {
		return argument("ctx", nil, "must not be nil")
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &ioerr.Error{Outcome: outcomeOf(ctx), Origin: ioerr.Executor, Effect: ioerr.None, Err: context.Cause(ctx)}
	}
}

// alarm is a call that waits for its time.
type alarm struct {
	at   time.Duration   // since alarms.epoch
	turn uint64          // orders those of the same time
	ctx  context.Context //nolint:containedctx // of the call
	fn   func(context.Context) error
	opts *[]Option // nil: none, as most have, of whom there may be a million
}

// queue is alarms as a heap, the first in time at the top. It grows and shrinks without
// Push and Pop, which would put each alarm on Go's heap.
type queue []alarm

// Len, Less and Swap are those of sort.Interface.
func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].turn < q[j].turn
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is there for heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(alarm)) } //nolint:errcheck // nothing else is pushed

// Pop is never called either, as the heap is changed in place.
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = alarm{}
	*q = (*q)[:last]
	return x
}

// alarms is the alarms of a group, and one timer for the first. The group's mutex guards it.
//
// Runners are the goroutines that take alarms whose time has come, and make their calls:
// one that the timer starts, and each that has taken its first alarm starts another one
// if there is more to do, up to as many as the lane has slots.
type alarms struct {
	group   *Group
	epoch   time.Time
	heap    queue
	turn    uint64
	timer   *time.Timer
	next    time.Duration // when the timer is due; only if it is set
	set     bool
	runners int
	coming  bool // one of them has not taken anything yet
	most    int
}

// add adds an alarm.
func (a *alarms) add(x alarm, d time.Duration) {
	if a.timer == nil {
		a.epoch = time.Now()
		a.timer = time.AfterFunc(math.MaxInt64, a.ring)
	}
	x.at, x.turn = time.Since(a.epoch)+max(d, 0), a.turn
	a.turn++
	a.heap = append(a.heap, x)
	heap.Fix(&a.heap, len(a.heap)-1)
	a.arm()
}

// arm sets the timer for the first alarm. While there are runners the last of them does.
func (a *alarms) arm() {
	if len(a.heap) == 0 || a.runners > 0 {
		return
	}
	if first := a.heap[0].at; !a.set || first < a.next {
		a.set, a.next = true, first
		a.timer.Reset(first - time.Since(a.epoch))
	}
}

// ring is called by the timer.
func (a *alarms) ring() {
	g := a.group
	g.mu.Lock()
	a.set = false
	a.runners++
	g.mu.Unlock()
	a.run()
}

// run is a runner.
func (a *alarms) run() {
	for first := true; ; first = false {
		x, ok := a.turnOf(first)
		if !ok {
			return
		}
		a.group.runLate(x)
	}
}

// turnOf gives a runner its next alarm, or ends it.
func (a *alarms) turnOf(first bool) (x alarm, ok bool) {
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	if first {
		a.coming = false
	}
	if x, ok = a.take(); !ok {
		a.runners--
		a.arm()
		return x, false
	}
	if !a.coming && a.runners < a.most && a.due() {
		a.coming = true
		a.runners++
		go a.run()
	}
	return x, true
}

func (a *alarms) due() bool { return len(a.heap) > 0 && a.heap[0].at <= time.Since(a.epoch) }

// take takes the first alarm, if its time has come.
func (a *alarms) take() (x alarm, ok bool) {
	if !a.due() {
		return x, false
	}
	x = a.heap[0]
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap[last] = alarm{}
	if a.heap = a.heap[:last]; last > 0 {
		heap.Fix(&a.heap, 0)
	} else {
		a.heap = nil // it may have been large
	}
	return x, true
}

// drop forgets all alarms, and returns how many there were.
func (a *alarms) drop() int {
	n := len(a.heap)
	a.heap = nil
	if a.set {
		a.set = !a.timer.Stop() // else it rings, and finds nothing
	}
	return n
}

// runLate makes the call of an alarm whose time has come.
func (g *Group) runLate(x alarm) {
	m := &member{group: g, counted: true}
	if g.room != nil {
		g.room <- struct{}{} // it comes: a member waits for nothing that waits for it
		m.limited = true
	}
	err := g.core.guarded(func() error { m.calls(x.ctx, x.fn); return nil })
	switch {
	case err != nil:
	case g.add(m) != nil: // the group knows why
		m.callOff(context.Canceled)
		g.remove(m, nil)
		return
	default:
		err = g.core.guarded(func() error { return m.runNow(g.core, x.options()) })
	}
	if err != nil {
		g.remove(m, err)
	}
}

func (x *alarm) options() []Option {
	if x.opts == nil {
		return nil
	}
	return *x.opts
}
