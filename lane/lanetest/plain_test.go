package lanetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// plain is a lane as one would write it first: one mutex, two slices, strict
// order. It keeps every law, and breaks the one named by fault.
type plain struct {
	cfg   lane.Config
	fault string

	mu      sync.Mutex
	running int
	queue   []*ticket // accepted
	room    []*ticket // not accepted
	ghosts  int       // places of callers that have gone
	sealed  bool
	shut    bool
	closers int
	evicted map[uint64]bool // owners
	stats   lane.Stats
	idle    []chan struct{} // of callers of Drain
}

type ticket struct {
	call   lane.Call
	answer chan error // capacity one; nil: a slot
}

// againError is the answer to a caller that has to look for a slot itself.
type againError struct{ error }

func newPlain(c lane.Config, fault string) *plain {
	l := &plain{cfg: c, fault: fault, evicted: make(map[uint64]bool)}
	if c.Queue == 0 {
		l.cfg.Queue = 256
	}
	if c.Waiters == 0 {
		l.cfg.Waiters = 4 * l.cfg.Queue
	}
	l.cfg.Queue, l.cfg.Waiters = max(l.cfg.Queue, 0), max(l.cfg.Waiters, 0)
	switch fault {
	case "one slot too many":
		l.cfg.Workers++
	case "one slot too few":
		l.cfg.Workers--
	case "no bound on the queue":
		l.cfg.Queue = 1 << 30
	case "one place too many":
		l.cfg.Queue++
	case "no waiters":
		l.cfg.Waiters = 0
	case "a goroutine is left":
		go func() { select {} }()
	}
	return l
}

func (l *plain) is(fault string) bool { return l.fault == fault }

// barges reports whether a newcomer may take a free slot past the queue.
func (l *plain) barges() bool {
	return l.is("newcomers barge") || l.is("endless patience") && l.cfg.Patience >= 0
}

func (l *plain) Enter(ctx context.Context, c lane.Call) (s lane.Slot, err error) {
	if l.is("a slot comes with an error") {
		defer func() {
			if err != nil {
				s.Token = 1
			}
		}()
	}
	l.mu.Lock()
	t, err := l.admit(ctx, c)
	l.mu.Unlock()
	if t == nil {
		return lane.Slot{}, err
	}
	for {
		switch err := l.wait(ctx, t); err.(type) {
		case againError:
			l.mu.Lock()
			if l.running < l.cfg.Workers {
				l.start()
				l.mu.Unlock()
				return lane.Slot{}, nil
			}
			l.stats.Queued++
			l.queue = slices.Insert(l.queue, 0, t)
			l.mu.Unlock()
		default:
			return lane.Slot{}, err
		}
	}
}

// admit decides. A ticket means that the caller has to wait; l.mu is held.
func (l *plain) admit(ctx context.Context, c lane.Call) (*ticket, error) {
	refuse := func(counter *uint64, err error) (*ticket, error) {
		if !l.is("refusals are not counted") {
			*counter++
		}
		return nil, err
	}
	r := &l.stats.Refused
	closed := l.shut || l.sealed && !c.Must
	if l.evicted[c.Owner] && !c.Must && l.running >= l.cfg.Workers {
		closed = true
	}
	switch {
	case l.is("Seal bars Must"):
		closed = l.sealed
	case l.is("Shutdown lets Must in"):
		closed = l.sealed && !c.Must
	case l.is("newcomers get in after Shutdown"):
		closed = false
	}
	if l.is("context before lifecycle") && ctx.Err() != nil {
		return refuse(&r.Cancelled, ctx.Err())
	}
	if closed {
		return refuse(&r.Shutdown, ioerr.ErrShutdown)
	}
	if ctx.Err() != nil && !l.is("the dead get in") {
		return refuse(&r.Cancelled, ctx.Err())
	}
	if l.running < l.cfg.Workers && (len(l.queue) == 0 || l.barges()) {
		l.start()
		return nil, nil
	}
	policy := c.Policy
	if policy == 0 || l.is("the lane's policy always") {
		policy = max(l.cfg.Policy, lane.Wait)
	}
	t := &ticket{c, make(chan error, 1)}
	must := c.Must && !l.is("bounds hold for Must")
	switch {
	case c.NoWait && !l.is("NoWait waits"):
		return refuse(&r.Reentry, ioerr.ErrReentry)
	case must || len(l.queue)+l.ghosts < l.cfg.Queue:
		l.queue = append(l.queue, t)
		l.stats.Queued++
		return t, nil
	case policy == lane.FailFast && !l.is("FailFast waits"):
		return refuse(&r.QueueFull, ioerr.ErrQueueFull)
	case len(l.room) >= l.cfg.Waiters:
		return refuse(&r.Overloaded, ioerr.ErrOverloaded)
	case !c.Accept.IsZero() && !time.Now().Before(c.Accept):
		return refuse(&r.Expired, ioerr.ErrAcceptTimeout)
	case l.is("the room is a stack"):
		l.room = slices.Insert(l.room, 0, t)
	default:
		l.room = append(l.room, t)
	}
	l.stats.Waiting++
	return t, nil
}

func (l *plain) wait(ctx context.Context, t *ticket) error {
	done := ctx.Done()
	if l.is("who gave up runs") || l.is("who gave up returns late") {
		done = nil
	}
	var expired <-chan time.Time
	if !t.call.Accept.IsZero() && !l.is("no acceptance deadline") {
		timer := time.NewTimer(time.Until(t.call.Accept))
		defer timer.Stop()
		expired = timer.C
	}
	for {
		select {
		case err := <-t.answer:
			if err == nil && ctx.Err() != nil && !l.is("who gave up runs") {
				return l.giveBack(ctx)
			}
			return err
		case <-done:
			if gone, err := l.quit(ctx, t, ctx.Err()); gone {
				return err
			}
		case <-expired:
			expired = nil
			if gone, err := l.quit(ctx, t, ioerr.ErrAcceptTimeout); gone {
				return err
			}
		}
	}
}

// quit takes a caller that waits no longer out of its place.
func (l *plain) quit(ctx context.Context, t *ticket, why error) (gone bool, err error) {
	l.mu.Lock()
	if i := slices.Index(l.room, t); i >= 0 {
		l.room = l.remove(l.room, i)
		l.stats.Waiting--
		if why == ioerr.ErrAcceptTimeout {
			l.stats.Refused.Expired++
		} else {
			l.stats.Refused.Cancelled++
		}
		l.mu.Unlock()
		return true, why
	}
	if why == ioerr.ErrAcceptTimeout && !l.is("acceptance deadline after acceptance") {
		l.mu.Unlock()
		return false, nil
	}
	if i := slices.Index(l.queue, t); i >= 0 {
		l.queue = l.remove(l.queue, i)
		l.stats.Queued--
		l.stats.Dropped++
		if l.is("who gave up keeps its place") {
			l.ghosts++
		}
		l.promote()
		l.rest()
		l.mu.Unlock()
		return true, why
	}
	l.mu.Unlock()
	if err := <-t.answer; err != nil {
		return true, err
	}
	return true, l.giveBack(ctx)
}

func (l *plain) remove(list []*ticket, i int) []*ticket {
	if l.is("order is lost when one gives up") {
		list[i] = list[len(list)-1]
		return list[:len(list)-1]
	}
	return slices.Delete(list, i, i+1)
}

// giveBack passes a slot on that came too late.
func (l *plain) giveBack(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Started--
	l.stats.Dropped++
	switch {
	case l.is("a slot is lost when its caller gives up"):
	case l.is("a grant is not passed on"):
		l.running--
	default:
		l.free()
	}
	return ctx.Err()
}
