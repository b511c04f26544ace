package pool

import (
	"context"
	"errors"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Future is the result of a call to come. All methods may be called from any goroutine,
// any number of times; each gets the same result. A Future comes from [Async] or
// [Concurrent].
type Future[T any] struct {
	core   *core
	call   flight[T]
	done   chan struct{}
	result T
	err    error
}

// Async starts a call that may run beside its caller, and returns at once if a slot is
// free. If none is, Async waits for one in the lane's line: as long as ctx allows, and
// however many wait already, since it is the caller whom it holds up. The call then runs
// on a goroutine of its own, or where the lane runs its calls (see [Offload]).
//
// From inside a call of the same lane there is nothing to wait for that the caller might
// not hold up itself. So when no slot is free there, the call runs at once, in the
// caller, as a part of the call around it.
//
// The context of the call ends with it: what it returns must not depend on that.
//
// So what is asked for is not concurrency: a call that can only go on when its starter
// does, such as the reading end of what that writes, needs [Concurrent].
//
// What is said of ctx and of errors at [Run] holds here, but for FailFast and for
// runtime.Goexit, which is an error here (ErrGoexit); a call that was refused is told of
// by the Future. ErrQueueFull and ErrOverloaded come only from a lane of somebody's making
// that does not know lane.Call.Beyond; ErrSaturated as from [Offload].
func Async[T, R any](ctx context.Context, p *Pool[R], fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	f, err := start(ctx, p.own(), fn, false, opts)
	if err != nil {
		f.err = err
		close(f.done)
	}
	return f
}

// Concurrent starts a call that runs beside its caller, or returns an error: then it never
// runs. That is an *ioerr.ConcurrencyError (ErrConcurrencyUnavailable) if no slot is free (on
// a lane.Pinned: no thread), or if the lane runs all calls in their callers (lane.Inline);
// otherwise see [Async].
func Concurrent[T, R any](ctx context.Context, p *Pool[R], fn func(context.Context) (T, error), opts ...Option) (*Future[T], error) {
	f, err := start(ctx, p.own(), fn, true, opts)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func start[T any](ctx context.Context, c *core, fn func(context.Context) (T, error), now bool, opts []Option) (*Future[T], error) {
	f := &Future[T]{core: c, done: make(chan struct{})}
	f.call.fn, f.call.end = fn, f.ends
	if err := f.call.check(ctx, c, lacks(fn == nil, "fn")); err != nil {
		return f, err
	}
	if _, inline := c.lane.(*lane.Inline); now && inline {
		return f, c.noConcurrency(false, opts)
	}
	f.call.plain = false // it gets a context of its own
	f.call.derive(ctx)
	err := f.call.start(f.call.ctx, c, now, opts)
	if now && errors.Is(err, ioerr.ErrReentry) {
		err = c.noConcurrency(true, opts)
	}
	return f, err
}

func (c *core) noConcurrency(temporary bool, opts []Option) error {
	return c.count(&ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Lane, Effect: ioerr.None,
		Label: callOf(opts).Label, Lane: c.lane.Name(), Err: &ioerr.ConcurrencyError{Temporary: temporary},
	})
}

func (f *Future[T]) ends(v T, err error) {
	f.result, f.err = v, err
	close(f.done)
}

// Await waits for the end of the call, and returns its result. If ctx ends first, the call
// goes on, the error is the context's cause with Effect Unknown, and the result can still
// be had later.
func (f *Future[T]) Await(ctx context.Context) (T, error) {
	var none T
	switch {
	case f.done == nil:
		return none, argument("f", "pool.Future", "was not made by pool.Async or pool.Concurrent")
	case ctx == nil:
		return none, argument("ctx", nil, "must not be nil")
	}
	select {
	case <-f.done:
		return f.result, f.err
	default:
	}
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return none, f.core.leftRunning(ctx, handle.ID{}, context.Cause(ctx))
	}
}

// Cancel ends the context of the call, waits for the end of the call, and returns its result:
// what the call has opened, if it has succeeded all the same, is the caller's, and not lost.
// How long that takes is up to the call and to the lane: see Config.Interrupt and [Offload].
func (f *Future[T]) Cancel() (T, error) {
	if f.done == nil {
		return f.Await(context.Background())
	}
	f.call.callOff(context.Canceled)
	<-f.done
	return f.result, f.err
}

// Done is closed when the call has ended.
func (f *Future[T]) Done() <-chan struct{} { return f.done }
