package lend

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// take gets the caller a right, and a resource. until is the deadline of AcceptWithin.
func (l *Lender[R]) take(ctx context.Context, opts []pool.Option) (it *item, until time.Time, err error) {
	if err := l.made(); err != nil {
		return nil, until, err
	}
	if ctx == nil {
		return nil, until, bad("ctx", nil, "must not be nil")
	}
	var slot lanegate.Slot
	ok := false
	if len(opts) == 0 && ctx.Err() == nil {
		slot, ok = l.gate.Try()
	}
	label := ""
	if !ok {
		lc := pool.CallOf(opts...)
		label, until = lc.Label, lc.Accept
		if slot, err = l.line(ctx, &lc); err != nil {
			return nil, until, err
		}
	}
	it, fit := l.next()
	if fit {
		it.seat = slot.Shard()
		return it, until, nil
	}
	it, err = l.open(ctx, slot, it, label, until)
	return it, until, err
}

// line waits for a right.
func (l *Lender[R]) line(ctx context.Context, lc *lane.Call) (lanegate.Slot, error) {
	if ctx.Err() != nil {
		return lanegate.Slot{}, l.refuse(ctx, lanegate.Ended, lc.Label)
	}
	r := lanegate.Request{
		FailFast: cmp.Or(lc.Policy, l.config.Policy) == lane.FailFast,
		NoWait:   l.pool.Inside(ctx),
		Expire:   lc.Accept,
	}
	slot, v, ticket := l.gate.Line(&r)
	if ticket != nil {
		began := time.Now()
		slot, v = l.gate.Wait(ctx, ticket)
		l.waits.add(time.Since(began))
	}
	if v != lanegate.Granted {
		return lanegate.Slot{}, l.refuse(ctx, v, lc.Label)
	}
	return slot, nil
}

// refuse is the error of a caller who got no right.
func (l *Lender[R]) refuse(ctx context.Context, v lanegate.Verdict, label string) error {
	r := l.refusals()
	switch v {
	case lanegate.Full:
		return &r.exhausted
	case lanegate.Busy:
		l.refused[lanegate.Busy].Add(1)
		return &r.reentry
	case lanegate.Overloaded:
		return &r.full
	case lanegate.Expired:
		return &r.late
	case lanegate.Ended:
		if l.gate.Closed() { // the lifecycle beats all else
			return &r.shutdown
		}
		return l.ended(ctx, label)
	case lanegate.Closed, lanegate.Hopeless, lanegate.Granted:
	}
	return &r.shutdown
}

// ended is the error of a caller whose context has ended before his call began.
func (l *Lender[R]) ended(ctx context.Context, label string) *ioerr.Error {
	e := &ioerr.Error{Outcome: ioerr.Cancelled, Origin: ioerr.Handle, Effect: ioerr.None, Label: label, Lane: l.lane, Lender: l.name()}
	e.Err = cmp.Or(context.Cause(ctx), ctx.Err(), context.Canceled)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Outcome = ioerr.TimedOut
	}
	return e
}

// next finds a resource for somebody who has a right. If it is not fit, or there is none, he
// has to open one, after he has closed this one.
func (l *Lender[R]) next() (it *item, fit bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.lent++
	now := l.now()
	for i := len(l.idle) - 1; i >= 0; i-- {
		if it := l.idle[i]; now < it.ends && !it.bad.Load() {
			l.idle = slices.Delete(l.idle, i, i+1)
			if len(l.idle)+l.ahead < l.config.MinIdle {
				l.warmLocked()
			}
			return it, true
		}
	}
	l.opening++
	if last := len(l.idle) - 1; last >= 0 {
		it = l.idle[last]
		l.idle = l.idle[:last]
		why := lifetimeReason
		if it.bad.Load() { // a call that outlasted its loan has broken it since
			why = brokenReason
		}
		l.counts.closed[why]++
		return it, false // closed as a part of the opening
	}
	l.exist(+1)
	return nil, false
}

// exist counts resources. mu is held.
//
// Why there are never more resources than the capacity: a slot of gate is the right to one resource, and whoever uses, opens or closes one has it.
// A resource is put among the idle ones before its right is given back, and one is opened
// only by somebody who has a right and finds none idle, both under mu: so all that exist are
// idle or covered by a right, and when one more comes to exist none is idle. Hence there are
// never more than rights. (But for Resize, which may take rights away from what exists, and
// for what an opening returns that was left: the pool closes that at once.)
func (l *Lender[R]) exist(n int) {
	l.existing += n
	switch {
	case l.held != nil && n > 0 && l.existing == n:
		l.held(true)
	case l.held != nil && l.existing == 0:
		l.held(false)
	}
	if l.existing == 0 {
		l.gone.WakeAll()
	}
}

// giveBack ends the use of a resource.
func (l *Lender[R]) giveBack(it *item) {
	seat := it.seat // what is idle may be somebody else's at once
	if l.keep(it) {
		l.gate.Slot(seat).Release()
	} else {
		go l.destroy(it)
	}
}

// keep puts a resource among those that are idle, or sees that it has to be closed.
func (l *Lender[R]) keep(it *item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	it.turn++
	now := l.now()
	switch {
	case it.bad.Load():
		l.closes(brokenReason)
	case l.closed || l.existing-l.closing > l.capacity:
		l.closes(surplusReason)
	case now >= it.ends:
		l.closes(lifetimeReason)
	default:
		it.since, it.seat = now, noSeat
		l.idle = append(l.idle, it)
		l.schedule(min(it.ends, l.idleDue()))
		return true
	}
	return false
}

// closes counts what destroy is going to do. mu is held.
func (l *Lender[R]) closes(why reason) {
	l.closing++
	l.counts.closed[why]++
}

// destroy closes a resource and gives its right back, if there is one.
func (l *Lender[R]) destroy(it *item) {
	_ = l.pool.Destroy(context.Background(), it.id) // the pool's shutdown tells what went wrong
	l.mu.Lock()
	l.closing--
	l.exist(-1)
	l.mu.Unlock()
	if it.seat != noSeat {
		l.gate.Slot(it.seat).Release()
	}
	l.warm()
}
