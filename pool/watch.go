package pool

import (
	"context"
	"math"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Watch says from when on something is worth an event. A zero field is not watched; the
// zero Watch watches nothing. A pool that is watched keeps a list of its calls, which
// costs each of them about as much as a label does.
type Watch struct {
	// Slow is how long a call may run. One that runs for longer is reported then
	// (CallSlow), and when it ends (CallEnded).
	Slow time.Duration

	// Queue is how long a call may wait for its handle and how long for the lane. It is
	// reported when the first one has waited for longer (QueueSlow), and when none does
	// any more (QueueMoves).
	Queue time.Duration

	// Wedged is how long the lane may go without the end of a call while calls of the
	// pool wait for it. It is found out within half of that time more (LaneWedged), and
	// so is its end (LaneMoves).
	Wedged time.Duration
}

func (w Watch) check() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"Slow", w.Slow}, {"Queue", w.Queue}, {"Wedged", w.Wedged}} {
		if f.value < 0 {
			return &ioerr.ArgumentError{Name: "pool.Config.Watch." + f.name, Value: f.value, Reason: "must not be negative"}
		}
	}
	return nil
}

// watch is one timer for all calls of a pool. It runs only while there are calls, on a
// goroutine of the timer's, so it works when every slot is stuck.
//
// No call is overlooked: whoever lists one, or moves it on, makes the timer go off when
// that is due at the latest; and when it goes off it is set anew for what is due next.
type watch struct {
	rules Watch
	stuck time.Duration // after which a call bars its handle; zero: never
	calls *calls
	lane  lane.Lane
	post  func(Event)

	// Guarded by calls.mu.
	timer   *time.Timer
	due     int64 // when it goes off; never if it is not set
	old     bool  // QueueSlow was reported
	stopped bool

	// Guarded by turn, which one look at a time has; before calls.mu.
	turn      chan struct{}
	waited    bool   // somebody waited for the lane at the last look
	completed uint64 // calls of the lane then
	progress  int64  // when that last changed, or the first began to wait
	wedged    bool   // LaneWedged was reported
}

const never = math.MaxInt64

// at is when a call is due for a look, on the clock of calls.
func (w *watch) at(c *call, now int64) int64 {
	due := int64(never)
	sooner := func(limit time.Duration, over bool, from int64) {
		if limit > 0 && !over {
			due = min(due, later(from, limit))
		}
	}
	switch c.phase {
	case waitsForHandle, waitsForLane:
		sooner(w.rules.Queue, w.old, c.since)
		if c.phase == waitsForLane {
			sooner(quarter(w.rules.Wedged), false, now)
		}
	case runs:
		sooner(w.rules.Slow, c.slow, c.since)
		sooner(w.stuck, !c.mayBar(), c.since)
	case runsAlone:
		sooner(w.rules.Slow, c.slow, c.since)
	}
	return due
}

// mayBar reports whether the handle of a running call is to be barred if that does not
// end.
func (c *call) mayBar() bool { return !c.barred && c.at != nil && !c.id.IsZero() }

// later is a time on the clock of calls, never if that does not reach so far.
func later(from int64, d time.Duration) int64 {
	if t := from + int64(d); t >= from {
		return t
	}
	return never
}

// quarter is one of a duration, but long enough not to look all the time.
func quarter(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return max(d/4, time.Millisecond)
}

// expect sees to it that a call is looked at when it is due. calls.mu is held.
func (w *watch) expect(c *call, now int64) {
	if w != nil {
		w.set(w.at(c, now), now)
	}
}

// set has the timer go off at a time, if it does not before. calls.mu is held.
func (w *watch) set(due, now int64) {
	if due >= w.due || w.stopped {
		return
	}
	w.due = due
	d := max(time.Duration(due-now), 0)
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.look)
	} else {
		w.timer.Reset(d)
	}
}

// look is the goroutine of the timer.
func (w *watch) look() {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	waiting := w.lookAtCalls()
	if w.rules.Wedged > 0 {
		w.lookAtLane(waiting)
	}
}

// lookAtCalls reports what is due, and returns how many calls wait for the lane.
func (w *watch) lookAtCalls() (waiting int) {
	l := w.calls
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	w.due = never
	next := int64(never)
	var oldest *call // of those that wait
	for c := l.head; c != nil; c = c.next {
		age := time.Duration(now - c.since)
		switch {
		case c.phase < runs:
			if c.phase == waitsForLane {
				waiting++
			}
			if oldest == nil || c.since < oldest.since {
				oldest = c
			}
		case w.rules.Slow > 0 && age >= w.rules.Slow && !c.slow:
			c.slow = true
			w.post(Event{Kind: CallSlow, Call: c.tell(now)})
		}
		if c.phase == runs && w.stuck > 0 && age >= w.stuck && c.mayBar() {
			c.barred = true
			c.at.bar(c.label, time.Now().Add(-age), &ioerr.SlowError{Took: age, Limit: w.stuck})
		}
	}
	if w.rules.Queue > 0 {
		isOld := oldest != nil && now-oldest.since >= int64(w.rules.Queue)
		if isOld && !w.old {
			w.post(Event{Kind: QueueSlow, Call: oldest.tell(now)})
		} else if !isOld && w.old {
			w.post(Event{Kind: QueueMoves})
		}
		if w.old = isOld; isOld {
			next = later(now, quarter(w.rules.Queue))
		}
	}
	if w.wedged {
		next = min(next, later(now, quarter(w.rules.Wedged)))
	}
	for c := l.head; c != nil; c = c.next {
		next = min(next, w.at(c, now))
	}
	w.set(next, now)
	return waiting
}

// lookAtLane finds out whether the lane is wedged. No mutex is held but turn: the lane
// may be of the user's making.
func (w *watch) lookAtLane(waiting int) {
	completed := uint64(0)
	if waiting > 0 {
		completed = w.lane.Stats().Completed
	}
	now := w.calls.now()
	switch stands := time.Duration(now - w.progress); {
	case waiting == 0 || !w.waited || completed != w.completed:
		w.progress, w.completed, w.waited = now, completed, waiting > 0
		if w.wedged {
			w.wedged = false
			w.post(Event{Kind: LaneMoves})
		}
	case stands >= w.rules.Wedged && !w.wedged:
		w.wedged = true
		w.post(Event{Kind: LaneWedged, Age: stands, Waiting: waiting})
	}
}

// stop ends the watch of a pool that is closed, and waits for a look that is under way.
// What was reported and is over now is told. It is false if ctx ended first.
func (w *watch) stop(ctx context.Context) bool {
	if w == nil {
		return true
	}
	w.calls.mu.Lock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.calls.mu.Unlock()
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-w.turn }()
	w.calls.mu.Lock()
	if w.old {
		w.old = false
		w.post(Event{Kind: QueueMoves})
	}
	w.calls.mu.Unlock()
	if w.wedged {
		w.wedged = false
		w.post(Event{Kind: LaneMoves})
	}
	return true
}
