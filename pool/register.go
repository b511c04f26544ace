package pool

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// Register opens a resource on the lane and takes ownership of it. The ID is
// valid from the return on. If the pool begins to shut down while open runs, the
// resource that open returns is disposed of and the error is ErrShutdown with
// Effect Done. Otherwise errors are as for [Run].
//
// On a lane that is a lane.Carrier open is run as by [Offload]: on a lane.Abandoning the
// caller may leave it, and a resource that it returns after that is disposed of.
func (p *Pool[R]) Register(ctx context.Context, open func(context.Context) (R, error), opts ...Option) (handle.ID, error) {
	if err := new(stay).check(ctx, p.own(), lacks(open == nil, "open")); err != nil {
		return handle.ID{}, err
	}
	lease, err := p.reg.Reserve()
	if err != nil {
		return handle.ID{}, p.refuse(ctx, err, ioerr.Executor, "", handle.ID{})
	}
	if p.carrier != nil {
		return p.registerLate(ctx, lease, open, opts)
	}
	committed := false
	var lost *R
	defer func() { // also when open ends its goroutine, or a context panics after it
		if committed {
			return
		}
		if lost != nil {
			p.bin.discard(p.reg.Detach(lease.ID, resource[R]{value: *lost}))
		}
		p.reg.Abort(lease)
	}()
	at := p.siteOf(lease)
	at.opening = true
	r, err := run(ctx, p.own(), at, &stay{unjudged: true}, func(ctx context.Context) (R, error) { // like a transaction on what is to be opened
		r, err := open(ctx)
		if err == nil {
			lost = &r
		}
		return r, err
	}, opts)
	at.opening, at.verdict = false, verdict{}
	if err != nil {
		return handle.ID{}, err
	}
	committed = true
	lease.Resource.value = r
	if lease.Commit() {
		p.bin.discard(lease.Entry)
		return handle.ID{}, p.undone(lease.ID, callOf(opts).Label)
	}
	return lease.ID, nil
}

// Adopt takes ownership of a resource that is open already. On an error, which is
// ErrShutdown, it stays the caller's.
func (p *Pool[R]) Adopt(r R) (handle.ID, error) {
	if err := new(stay).check(context.Background(), p.own(), ""); err != nil {
		return handle.ID{}, err
	}
	if p.shared {
		return p.adoptShared(r)
	}
	e, err := p.reg.Insert(resource[R]{value: r})
	if err != nil {
		return handle.ID{}, p.refuse(context.Background(), err, ioerr.Executor, "", handle.ID{})
	}
	return e.ID, nil
}

// adoptShared is Adopt of a resource with shares: what all holders read is there before
// the first share is lent.
func (p *Pool[R]) adoptShared(r R) (handle.ID, error) {
	lease, err := p.reg.Reserve()
	if err == nil {
		lease.Resource.value = r
		p.siteOf(lease)
		if !lease.Commit() {
			return lease.ID, nil
		}
		p.reg.Disposed(lease.Entry, nil) // retired before it was there: it stays the caller's
		err = ioerr.ErrShutdown
	}
	return handle.ID{}, p.refuse(context.Background(), err, ioerr.Executor, "", handle.ID{})
}

// Replace exchanges the resource behind id for the one that open returns, under the same ID:
// for a broken connection or a file to be opened anew. open runs like the function of
// Transact, with the old resource, which it must leave open: the pool disposes of it once open
// has succeeded. If open fails, or returns the old one, that stays; on a lane.Carrier its
// caller may leave it as with Offload. The handle may be down or poisoned: a new resource is
// Healthy. If the handle was destroyed meanwhile, both are disposed of and the error is
// ErrHandleNotFound, or ErrShutdown, with Effect Done. With Config.Share it is an
// *ioerr.UnsupportedError.
//
// Replace waits for the disposal of the old one, as Destroy does, and returns what
// went wrong with it (an *ioerr.HookError); but if ctx ends meanwhile, that is no
// error, since the exchange is done.
func (p *Pool[R]) Replace(ctx context.Context, id handle.ID, open func(ctx context.Context, old R) (R, error), opts ...Option) error {
	x := &exchange[R]{pool: p, open: open}
	if err := x.check(ctx, p.own(), lacks(open == nil, "open")); err != nil {
		return err
	}
	if p.shared {
		return p.refuse(ctx, notShared(), ioerr.Handle, callOf(opts).Label, id)
	}
	if err := x.borrow(ctx, id, opts); err != nil {
		return err
	}
	err := x.run(ctx, opts)
	switch {
	case err != nil || x.gone == nil:
		return err
	case x.late:
		return p.undone(id, callOf(opts).Label)
	}
	_, err = p.disposal(ctx, x.gone, false)
	return err
}

// notShared refuses Replace where several may use the old resource.
func notShared() error {
	return &ioerr.UnsupportedError{What: "pool.Replace", Err: fmt.Errorf("resources have shares (pool.Config.Share): %w", errors.ErrUnsupported)}
}

// same reports whether two resources are one and the same. Of values that cannot
// be compared no two are.
func same[R any](a, b R) bool {
	return reflect.ValueOf(&a).Elem().Comparable() && any(a) == any(b)
}

// Destroy retires the resource: from now on id names nothing, and callers that
// wait for it get ErrHandleNotFound. A call that is using it finishes undisturbed;
// then, or at once if there is none, the resource is disposed of on the lane.
//
// Destroy waits for that and returns what went wrong (an *ioerr.HookError). ctx
// bounds the waiting only: after its end the error has Effect Unknown, and the
// disposal takes place all the same. From inside a call on the pool's lane Destroy
// does not wait, since the disposal takes a slot too.
//
// It is idempotent: an ID of this pool that names nothing, or nothing any more, is
// no error and nothing to wait for, also after a shutdown. ErrScopeMismatch is for
// the IDs of others, ErrHandleNotFound for the zero ID.
func (p *Pool[R]) Destroy(ctx context.Context, id handle.ID) error {
	c := p.own()
	if c == nil || c.state.Load() == stateNone {
		return argument("p", "pool.Pool", "was not made by pool.New")
	}
	if ctx == nil {
		return argument("ctx", nil, "must not be nil")
	}
	if err := p.reg.Check(id); err != nil {
		return c.refusal(ctx, err, ioerr.Handle, "", id)
	}
	e, orphan := p.reg.Retire(id)
	if e == nil {
		return nil
	}
	if orphan {
		p.bin.discard(e)
	}
	p.ward.discharge(id)
	over, err := p.disposal(ctx, e, !orphan)
	if !over {
		return c.leftRunning(ctx, id, context.Cause(ctx))
	}
	return err
}

// Detach is Destroy without the waiting: from now on id names nothing, and the resource
// is disposed of as soon as no call uses it, if ever. That suits a resource in the hands
// of a call that was left running (see [OffloadOn]); a new one can be registered at
// once, and gets an ID of its own. What goes wrong with the disposal is in the report of
// Shutdown. Errors are those of Destroy that do not come from waiting.
func (p *Pool[R]) Detach(id handle.ID) error {
	c := p.own()
	if c == nil || c.state.Load() == stateNone {
		return argument("p", "pool.Pool", "was not made by pool.New")
	}
	if err := p.reg.Check(id); err != nil {
		return c.refusal(context.Background(), err, ioerr.Handle, "", id)
	}
	if e, orphan := p.reg.Retire(id); orphan {
		p.bin.discard(e)
	}
	p.ward.discharge(id)
	return nil
}

// disposal waits until a disposal is over and returns what went wrong; if ctx ends
// first, it is not over. held says that somebody may still use the resource. A
// caller that could be who it waits for does not wait.
func (p *Pool[R]) disposal(ctx context.Context, e waste[R], held bool) (over bool, err error) {
	select {
	case <-e.Gone(): // at once: there was no hook to call
	default:
		if p.holdsSlot(ctx, held) {
			return true, nil // it would wait for a slot, or for a holder who may wait for one
		}
		select {
		case <-e.Gone():
		case <-ctx.Done():
			select {
			case <-e.Gone(): // both: what has happened counts
			default:
				return false, nil
			}
		}
	}
	if err := e.Err(); err != nil {
		return true, p.failure(err, "", e.ID)
	}
	return true, nil
}

// Has reports whether id names a resource of the pool. Whether that can be used now is
// for [Pool.Health] to say.
func (p *Pool[R]) Has(id handle.ID) bool {
	return p != nil && p.state.Load() != stateNone && p.reg.Has(id)
}

// IDFromUint64 gives back the ID whose [handle.ID.Uint64] is u, for tables that
// hold only 64 bits. It does not look the ID up.
func (p *Pool[R]) IDFromUint64(u uint64) handle.ID {
	if p == nil {
		return handle.ID{}
	}
	return handle.FromUint64(p.owner, u)
}
