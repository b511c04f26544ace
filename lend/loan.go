package lend

import (
	"context"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// Loan is one of the resources for several calls, as a transaction of a database takes. It
// is made by [Lender.Borrow] and must be returned. Copies are the same loan. The zero Loan is
// one that has been returned.
//
// The resource is used by calls of the pool, as always; so it cannot be kept beyond the loan.
type Loan[R any] struct {
	lender *Lender[R]
	item   *item
	turn   uint64 // of item
}

// Borrow waits for a resource as [Transact] does, and lends it until it is returned. While it
// is not used it takes up no place in the lane. On a lane.Pinned there is no use for a loan,
// since its calls run on the goroutines of their callers ([Use]).
func (l *Lender[R]) Borrow(ctx context.Context, opts ...pool.Option) (Loan[R], error) {
	it, until, err := l.take(ctx, opts)
	if err != nil {
		return Loan[R]{}, err
	}
	if l.mustCheck(it) {
		if it, err = l.checked(ctx, it, opts, until); err != nil {
			return Loan[R]{}, err
		}
	}
	return Loan[R]{l, it, it.turn}, nil
}

// checked has a resource checked. What is lent is that one, or a new one.
func (l *Lender[R]) checked(ctx context.Context, it *item, opts []pool.Option, until time.Time) (*item, error) {
	ended := false
	defer func() {
		if !ended {
			it.bad.Store(true)
			l.giveBack(it)
		}
	}()
	err := l.pool.With(ctx, it.id, func(ctx context.Context, r R) error {
		return l.pass(ctx, r)
	}, rest(opts, until)...)
	ended = true
	switch {
	case l.unfit(it, err, true):
		return l.renew(ctx, it, opts, until)
	case err != nil:
		l.giveBack(it)
		return nil, err
	}
	return it, nil
}

// Use is pool.Transact with what was lent. The error is ErrReturned if that has been returned.
// After a panic, or an error made by [pool.Poison], later calls may be refused; the resource
// is closed when it is returned.
func Use[T, R any](ctx context.Context, loan Loan[R], fn func(context.Context, R) (T, error), opts ...pool.Option) (v T, err error) {
	if fn == nil {
		return v, bad("fn", nil, "must not be nil")
	}
	if loan.over(0) {
		return v, loan.returned()
	}
	// It may be returned meanwhile, and lent again: who has the resource now sees that.
	late := false
	v, err = pool.Transact(ctx, loan.lender.pool, loan.item.id, func(ctx context.Context, r R) (v T, err error) {
		if late = loan.over(0); late {
			return v, nil
		}
		ended := false
		defer func() { // while it has the resource: whoever waits for that, once it is returned, finds it bad
			if !ended {
				loan.item.bad.Store(true)
			}
		}()
		v, err = fn(ctx, r)
		ended = true
		return v, err
	}, opts...)
	switch {
	case late:
		return v, loan.returned()
	case loan.lender.unfit(loan.item, err, false):
		if loan.over(0) { // and what was lent is closed
			return v, loan.returned()
		}
		loan.item.bad.Store(true)
	}
	return v, err
}

// With is [Use] for a call that has no result but an error.
func (b Loan[R]) With(ctx context.Context, fn func(context.Context, R) error, opts ...pool.Option) error {
	if fn == nil {
		return bad("fn", nil, "must not be nil")
	}
	_, err := Use(ctx, b, func(ctx context.Context, r R) (struct{}, error) { return struct{}{}, fn(ctx, r) }, opts...)
	return err
}

// Return ends the loan. A second time it does nothing but return ErrReturned. If a call that
// uses the resource still runs, the next one waits for it (but with pool.Config.Share, which
// lets several use one resource).
func (b Loan[R]) Return() error { return b.end(false) }

// Discard is Return of a resource that is not to be lent again: it is closed.
func (b Loan[R]) Discard() error { return b.end(true) }

func (b Loan[R]) end(bad bool) error {
	if b.over(1) {
		return b.returned()
	}
	if bad {
		b.item.bad.Store(true)
	}
	b.lender.giveBack(b.item)
	return nil
}

// over reports whether the loan was returned, and ends it if then is 1.
func (b Loan[R]) over(then uint64) bool {
	if b.lender == nil {
		return true
	}
	b.lender.mu.Lock()
	defer b.lender.mu.Unlock()
	if b.item.turn != b.turn {
		return true
	}
	b.item.turn += then
	return false
}

func (b Loan[R]) returned() error {
	e := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Handle, Effect: ioerr.None, Err: ioerr.ErrReturned}
	if b.lender != nil {
		e.Lane, e.Lender = b.lender.lane, b.lender.name()
	}
	return e
}
