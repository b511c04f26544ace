package lend

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// Transact is pool.Transact with any of the resources: fn has it to itself until it returns,
// and must not keep it.
//
// The error is always an *ioerr.Error. Beside what pool.Transact returns, fn never ran with
// ErrExhausted (lane.FailFast), ErrBorrowersFull, ErrAcceptTimeout, ErrReentry, ErrShutdown,
// the context's cause, or an *[OpenError] since no resource could be opened. AcceptWithin
// bounds the wait for a resource, also for one that is being opened, and for the lane
// together.
func Transact[T, R any](ctx context.Context, l *Lender[R], fn func(context.Context, R) (T, error), opts ...pool.Option) (v T, err error) {
	var u use[R]
	defer u.end()
	for err = u.begin(ctx, l, fn == nil, opts); u.runs(); u.judge(ctx, &err) {
		v, err = pool.Transact(ctx, l.pool, u.item.id, func(ctx context.Context, r R) (v T, err error) {
			if err := u.check(ctx, r); err != nil {
				return v, err
			}
			return fn(ctx, r)
		}, rest(u.opts, u.until)...)
	}
	return v, err
}

// With is Transact for a call that has no result but an error.
func (l *Lender[R]) With(ctx context.Context, fn func(context.Context, R) error, opts ...pool.Option) error {
	if fn == nil {
		return bad("fn", nil, "must not be nil")
	}
	_, err := Transact(ctx, l, func(ctx context.Context, r R) (struct{}, error) { return struct{}{}, fn(ctx, r) }, opts...)
	return err
}

// Offload is pool.OffloadOn with any of the resources, for lanes that run calls themselves
// (lane.Abandoning, lane.Pinned). Of a call that its caller has left, the resource and the
// right to it stay taken until it ends; then the resource is closed.
func Offload[T, R any](ctx context.Context, l *Lender[R], fn func(context.Context, R) (T, error), opts ...pool.Option) (v T, err error) {
	var u use[R]
	defer u.end()
	for err = u.begin(ctx, l, fn == nil, opts); u.runs(); u.judge(ctx, &err) {
		at := u // a copy: the caller may leave the call
		v, err = pool.OffloadOn(ctx, l.pool, u.item.id, func(ctx context.Context, r R) (v T, err error) {
			if err := at.check(ctx, r); err != nil {
				return v, err
			}
			return fn(ctx, r)
		}, rest(u.opts, u.until)...)
	}
	return v, err
}

// use is one call with a resource, or several if that turns out to be unfit.
type use[R any] struct {
	lender *Lender[R]
	item   *item // nil: none
	looks  bool  // it has to be checked
	over   bool  // the call has run, or was refused
	opts   []pool.Option
	until  time.Time // the deadline of AcceptWithin, for all calls of the use together
}

// begin gets a resource.
func (u *use[R]) begin(ctx context.Context, l *Lender[R], lacks bool, opts []pool.Option) error {
	if lacks {
		return bad("fn", nil, "must not be nil")
	}
	it, until, err := l.take(ctx, opts)
	if err != nil {
		return err
	}
	u.lender, u.item, u.looks, u.opts, u.until = l, it, l.mustCheck(it), opts, until
	return nil
}

// rest is the options with what is left of AcceptWithin.
func rest(opts []pool.Option, until time.Time) []pool.Option {
	if until.IsZero() {
		return opts
	}
	return append(slices.Clip(opts), pool.AcceptWithin(time.Until(until)))
}

// runs reports whether the call is to be made.
func (u *use[R]) runs() bool { return u.item != nil && !u.over }

// check looks at the resource, if that has to be. A call that outlasted its loan, and for
// which this one has waited, may have broken it.
func (u *use[R]) check(ctx context.Context, r R) error {
	if u.item.bad.Load() {
		return &checkError{errBroken}
	}
	if !u.looks {
		return nil
	}
	return u.lender.pass(ctx, r)
}

// pass has a resource checked.
func (l *Lender[R]) pass(ctx context.Context, r R) error {
	if d := l.config.CheckWithin; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	if err := l.config.Check(ctx, r); err != nil {
		return &checkError{err}
	}
	return nil
}

// judge decides after a call whether it is to be made again, with another resource.
func (u *use[R]) judge(ctx context.Context, err *error) {
	if u.over = !u.lender.unfit(u.item, *err, u.looks || u.item.bad.Load()); u.over {
		return
	}
	it := u.item
	u.item, u.looks = nil, false // it is renew's
	u.item, *err = u.lender.renew(ctx, it, u.opts, u.until)
}

// end gives the resource back.
func (u *use[R]) end() {
	if u.item == nil {
		return
	}
	if !u.over { // fn has ended its goroutine, or a context panics
		u.item.bad.Store(true)
	}
	u.lender.giveBack(u.item)
}

// mustCheck reports whether a resource is to be looked at before it is used.
func (l *Lender[R]) mustCheck(it *item) bool {
	return l.config.Check != nil && it.turn > 0 && (it.failed.Load() || l.now()-it.since >= int64(l.config.CheckAfter))
}

// unfit reports whether a call did not run since its resource turned out to be unfit, so that
// it is to have another one. It also notes what the call has done to its resource.
func (l *Lender[R]) unfit(it *item, err error, looked bool) bool {
	if err == nil {
		if it.failed.Load() {
			it.failed.Store(false)
		}
		return false
	}
	e, ok := err.(*ioerr.Error) //nolint:errorlint // the pool's, as it is
	if !ok {
		return false
	}
	if e.Effect == ioerr.None {
		// The cause of a context that has ended may be the error of another call.
		return e.Outcome == ioerr.Failed &&
			(errors.Is(e.Err, ioerr.ErrPoisoned) || errors.Is(e.Err, ioerr.ErrHandleDown) || errors.Is(e.Err, ioerr.ErrHandleNotFound))
	}
	it.failed.Store(true)
	switch e.Err.(type) { //nolint:errorlint // what is inside of another error is none of ours
	case *checkError:
		return looked
	case *ioerr.PanicError:
		it.bad.Store(true)
	default:
		h := l.pool.Health(it.id)
		exited := e.Err == ioerr.ErrGoexit //nolint:errorlint // see above
		broken := l.config.Broken != nil && e.Effect == ioerr.Done && l.config.Broken(e.Err)
		if e.Effect == ioerr.Unknown || exited || broken || h != pool.Healthy && h != pool.Suspect {
			it.bad.Store(true)
		}
	}
	return false
}

// renew closes a resource that is not fit for use and opens another one, under the same right.
func (l *Lender[R]) renew(ctx context.Context, it *item, opts []pool.Option, until time.Time) (*item, error) {
	l.mu.Lock()
	l.opening++
	l.counts.closed[checkReason]++
	l.mu.Unlock()
	return l.open(ctx, l.gate.Slot(it.seat), it, pool.CallOf(opts...).Label, until)
}
