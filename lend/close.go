package lend

import (
	"context"

	"github.com/iolane/iolane/ioerr"
)

// Shutdown ends the lending: who waits for a resource, and who comes later, gets ErrShutdown;
// what is lent is waited for; all resources are closed. The pool stays open.
//
// If ctx ends first, the error is an *ioerr.Error with Effect Unknown and a *[PendingError],
// which tells what was waited for. That goes on: the next Shutdown waits for it again. With a context from inside a
// call on the pool's lane, or in a hook of the pool, it is ErrReentry: that may have what
// would be waited for.
//
// A shutdown of the pool ends the lending, too, and closes the resources as its own.
func (l *Lender[R]) Shutdown(ctx context.Context) error {
	if err := l.made(); err != nil {
		return err
	}
	if ctx == nil {
		return bad("ctx", nil, "must not be nil")
	}
	if l.pool.Inside(ctx) {
		return &l.refusals().reentry
	}
	if l.unwatch != nil {
		l.unwatch()
	}
	l.shut()
	over := l.gate.Drain(ctx)
	if over {
		l.mu.Lock()
		if l.existing == 0 {
			l.mu.Unlock()
			return nil
		}
		over = l.gone.Wait(ctx, &l.mu)
	}
	if over {
		return nil
	}
	e := l.ended(ctx, "")
	e.Origin, e.Effect = ioerr.Executor, ioerr.Unknown
	s := l.Stats()
	e.Err = &PendingError{Lent: s.Lent, Opening: s.Opening, Closing: s.Closing, Err: e.Err}
	return e
}

// Close is Shutdown without a bound. It must not be called from inside a call on the pool's
// lane that has, or waits for, one of the resources: it would wait for itself.
func (l *Lender[R]) Close() error { return l.Shutdown(context.Background()) }

// shut refuses newcomers and closes what is idle. It waits for nobody.
func (l *Lender[R]) shut() {
	l.gate.Close()
	l.mu.Lock()
	l.closed = true
	if l.tend.timer != nil {
		l.tend.timer.Stop()
	}
	idle := l.idle
	l.idle = nil
	for range idle {
		l.closes(surplusReason)
	}
	l.mu.Unlock()
	for _, it := range idle {
		go l.destroy(it)
	}
}
