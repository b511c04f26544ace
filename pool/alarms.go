package pool

import (
	"context"
	"math"
	"time"

	"github.com/iolane/iolane/ioerr"
)

// After makes a call a member of the group that begins when d has passed, at once if d is
// not positive. Until then it takes no slot, no room (Limit) and no goroutine, but some
// 100 bytes. Then it waits for room and for the lane as a call of [Group.Go] does, in the
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
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return g.calledOff(opts)
	}
	g.n++
	x := alarm{ctx: g.base(ctx), fn: fn}
	if len(opts) > 0 {
		own := opts
		x.opts = &own
	}
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

func (a *alarm) before(b *alarm) bool { return a.at < b.at || a.at == b.at && a.turn < b.turn }

// alarms is the alarms of a group: a heap of four children a node, which a cache line
// likes better than two, and one timer for the first. The group's mutex guards it.
//
// Runners are the goroutines that take alarms whose time has come, and make their calls:
// one that the timer starts, and each that has taken its first alarm starts another one
// if there is more to do, up to as many as the lane has slots.
type alarms struct {
	group   *Group
	epoch   time.Time
	heap    []alarm
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
	a.up(len(a.heap) - 1)
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
		a.down()
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

const children = 4

func (a *alarms) up(i int) {
	h := a.heap
	for i > 0 {
		parent := (i - 1) / children
		if !h[i].before(&h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (a *alarms) down() {
	h := a.heap
	for i := 0; ; {
		least := i
		for c := children*i + 1; c <= children*i+children && c < len(h); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// runLate makes the call of an alarm whose time has come.
func (g *Group) runLate(x alarm) {
	m := &member{group: g}
	if g.room != nil {
		g.room <- struct{}{} // it comes: a member waits for nothing that waits for it
		m.limited = true
	}
	m.calls(x.ctx, x.fn)
	if !g.join(m) {
		m.cancel(context.Canceled)
		return
	}
	var opts []Option
	if x.opts != nil {
		opts = *x.opts
	}
	if err := m.runNow(g.core, opts); err != nil {
		g.remove(m, err)
	}
}
