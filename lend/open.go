package lend

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// openLabel is that of Config.Open in the pool.
const openLabel = "open"

// opening is a resource on its way, and somebody who waits for it. Whoever claims it first
// decides: the opener, whose result is taken then, or the caller, who leaves.
type opening struct {
	claimed atomic.Bool
	done    chan struct{} // closed when it and err are there
	it      *item
	err     error
	late    bool // it failed when OpenWithin had passed
}

// give hands the result over, if somebody waits for it.
func (o *opening) give(it *item, err error) bool {
	if o == nil || !o.claimed.CompareAndSwap(false, true) {
		return false
	}
	if o.err = err; err == nil {
		o.it = it
	}
	close(o.done)
	return true
}

// open has a resource opened, after old is closed, if there is such, and waits for it as long
// as the call allows. The right is the opener's until it is done.
//
// To close one takes a place in the lane. Who has one himself does not wait for that: all
// places might be those of callers who do.
func (l *Lender[R]) open(ctx context.Context, slot lanegate.Slot, old *item, label string, until time.Time) (*item, error) {
	if old != nil && l.inside(ctx) {
		l.mu.Lock()
		l.opening--
		l.closing++
		l.mu.Unlock()
		old.seat = slot.Shard()
		go l.destroy(old)
		return nil, l.refuse(ctx, lanegate.Busy, label)
	}
	o := &opening{done: make(chan struct{})}
	ended := lanegate.DoneOf(ctx)
	var late <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		late = timer.C
	}
	go l.opens(context.WithoutCancel(ctx), o, slot, old)
	var why lanegate.Verdict
	select {
	case <-o.done:
		return o.it, l.notOpened(o, label)
	case <-ended:
		why = lanegate.Ended
	case <-late:
		why = lanegate.Expired
	}
	if !o.claimed.CompareAndSwap(false, true) { // it is there at this moment
		<-o.done
		return o.it, l.notOpened(o, label)
	}
	l.refused[why].Add(1)
	return nil, l.refuse(ctx, why, label)
}

// inside reports whether the caller has a place in the lane. A context that panics may be
// that of one who has.
func (l *Lender[R]) inside(ctx context.Context) (inside bool) {
	defer func() {
		if recover() != nil {
			inside = true
		}
	}()
	return l.pool.Inside(ctx)
}

// notOpened is the error of the caller whose opening has failed.
func (l *Lender[R]) notOpened(o *opening, label string) error {
	if o.err == nil {
		return nil
	}
	e, _ := errors.AsType[*ioerr.Error](o.err) // it is one
	if e.Outcome == ioerr.ShutdownInProgress {
		return &l.refusals().shutdown
	}
	why := &OpenError{Err: o.err}
	if o.late {
		why.Within = l.config.OpenWithin
	}
	return &ioerr.Error{
		Outcome: e.Outcome, Origin: ioerr.Handle, Effect: ioerr.None, Label: label, Lane: l.lane, Lender: l.name(), Err: why,
	}
}

// opens is the goroutine of an opening; o is nil if nobody waits for it.
func (l *Lender[R]) opens(ctx context.Context, o *opening, slot lanegate.Slot, old *item) {
	began := time.Now()
	broken := func(why error) error {
		return &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done, Label: openLabel, Lane: l.lane, Lender: l.name(), Err: why}
	}
	err := broken(ioerr.ErrGoexit)
	var id handle.ID
	inside := make(chan struct{}, 1) // Open
	defer func() {
		if r := recover(); r != nil { // of a context of somebody's making
			err = broken(&ioerr.PanicError{Value: r, Stack: debug.Stack()})
		}
		took := time.Since(began)
		if len(inside) > 0 { // it was left: the right is its until it ends
			o.give(nil, err)
			inside <- struct{}{}
			<-inside
		}
		l.opened(o, &item{id: id, seat: slot.Shard(), ends: l.life()}, slot, err, took)
	}()
	if old != nil {
		_ = l.pool.Destroy(context.Background(), old.id)
		began = time.Now()
	}
	if d := l.config.OpenWithin; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	id, err = l.pool.Register(ctx, func(ctx context.Context) (R, error) {
		inside <- struct{}{}
		defer func() { <-inside }()
		return l.config.Open(ctx)
	}, pool.Label(openLabel))
	if o != nil {
		o.late = err != nil && ctx.Err() != nil
	}
}

// opened ends an opening, and hands its result to whoever waits for it, or to all.
func (l *Lender[R]) opened(o *opening, it *item, slot lanegate.Slot, err error, took time.Duration) {
	l.mu.Lock()
	l.opening--
	if o == nil {
		l.ahead--
		l.tend.judge(err, l.now())
	}
	if err == nil {
		l.counts.opened++
	} else {
		l.counts.openFailed++
		l.exist(-1)
	}
	l.mu.Unlock()
	l.openings.add(took)
	if err != nil {
		slot.Release()
	}
	switch given := o.give(it, err); {
	case err != nil:
		l.warm()
	case !given:
		l.giveBack(it)
	}
}
