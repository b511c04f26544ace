package pool

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/iolane/iolane/handle"
)

// First makes calls side by side and returns the result of the first that succeeds. The others
// are called off then (their contexts end), those that have not begun never do, and all that
// have are waited for: nothing goes on after First. The context of the winner ends with it, too:
// what it returns must not depend on that, so read the body of a response in the call. The results of those that succeed all the
// same are undone by [Undo], or dropped.
//
// The calls are started in order, each as [Async] starts one: on a full lane the next one
// waits for a slot, which one that is slow may hold, and from inside a call of a full lane
// they run in their caller one after the other. So there may be more of them than slots.
//
// If none succeeds the error is that of the only call, or a *GroupError with those of all, in
// order. It is an *ioerr.ArgumentError if there are no calls, or one is nil. A panic and
// runtime.Goexit in a call are its error.
func First[T, R any](ctx context.Context, p *Pool[R], calls []func(context.Context) (T, error), opts ...Option) (T, error) {
	return compete(ctx, p.own(), calls, false, opts)
}

// Race is [First], but the first call that ends decides, by an error, too.
func Race[T, R any](ctx context.Context, p *Pool[R], calls []func(context.Context) (T, error), opts ...Option) (T, error) {
	return compete(ctx, p.own(), calls, true, opts)
}

// errLost is what a call returns in vain. Nobody sees it but Stats.
var errLost = errors.New("another call was first")

// contest is calls of which one is to win. Whoever does claims that before his slot is given
// back: so nobody who gets that slot begins.
type contest[T any] struct {
	core   *core
	race   bool
	undo   func(T) error
	cancel context.CancelCauseFunc
	winner atomic.Int64 // its number, from 1; 0: none
}

func compete[T any](ctx context.Context, c *core, calls []func(context.Context) (T, error), race bool, opts []Option) (v T, err error) {
	if err := new(stay).check(ctx, c, ""); err != nil {
		return v, err
	}
	if len(calls) == 0 {
		return v, c.bad("calls", 0, "must not be empty")
	}
	for i, fn := range calls {
		if fn == nil {
			return v, c.bad(fmt.Sprintf("calls[%d]", i), nil, "must not be nil")
		}
	}
	x := &contest[T]{core: c, race: race}
	if x.undo, err = undoOf[T](opts); err != nil {
		return v, c.count(invalid(err))
	}
	ctx, x.cancel = context.WithCancelCause(ctx)
	started := make([]*Future[T], 0, len(calls))
	defer func() { // also if the caller's goroutine ends
		endContext(x.cancel, context.Canceled)
		for _, f := range started {
			<-f.done
		}
	}()
	for i, fn := range calls {
		if x.winner.Load() != 0 {
			break
		}
		f, err := start(ctx, c, x.entry(int64(i)+1, fn), false, opts)
		if err != nil { // refused
			f.ends(v, err)
			if race {
				x.wins(int64(i) + 1)
			}
		}
		started = append(started, f)
	}
	return x.outcome(started)
}

// entry is a call as a part of the contest.
func (x *contest[T]) entry(number int64, fn func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (v T, err error) {
		if x.winner.Load() != 0 {
			return v, errLost
		}
		returned := false
		defer func() {
			if !returned && x.race {
				x.wins(number)
			}
		}()
		v, err = fn(ctx)
		returned = true
		if (err == nil || x.race) && x.wins(number) || err != nil {
			return v, err
		}
		x.dispose(v)
		var none T
		return none, errLost
	}
}

// wins claims the win.
func (x *contest[T]) wins(number int64) bool {
	if !x.winner.CompareAndSwap(0, number) {
		return false
	}
	endContext(x.cancel, errLost)
	return true
}

// dispose undoes the result of a call that was too late.
func (x *contest[T]) dispose(v T) {
	if x.undo == nil {
		return
	}
	callHook("undo", handle.ID{}, func() error { return x.undo(v) }, func(err error) {
		if err != nil {
			x.core.hookFailed(err)
		}
	})
}

// outcome waits for all.
func (x *contest[T]) outcome(started []*Future[T]) (v T, err error) {
	errs := make([]error, 0, len(started))
	for _, f := range started {
		<-f.done
		errs = append(errs, f.err)
	}
	switch n := x.winner.Load(); {
	case n != 0:
		return started[n-1].result, started[n-1].err
	case len(errs) == 1:
		return v, errs[0]
	}
	return v, &GroupError{Errs: errs}
}
