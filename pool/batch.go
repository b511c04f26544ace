package pool

import (
	"context"
	"errors"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
)

// Batch is calls side by side whose room is allocated once: a call more costs no allocation
// (but for labels, and on a lane.Carrier). It is made by [NewBatch]. Results are taken out by
// Next, in the order in which the calls have ended; until then each keeps its slot.
//
//	for job := range jobs { // however many
//		_, err := b.Add(job)
//		for errors.Is(err, ioerr.ErrBatchFull) {
//			... // b.Await(ctx, 1), and take a result out by b.Next()
//			_, err = b.Add(job)
//		}
//		...
//	}
//	for n, err := b.Await(ctx, 1); n > 0 && err == nil; n, err = b.Await(ctx, 1) {
//		r, _ := b.Next()
//		...
//	}
//
// All methods may be called from any goroutine. A Batch that is used no more must be given up
// by Cancel: until then it holds on to its context.
type Batch[T any] struct {
	room    sharedTray[T]
	core    *core
	base    context.Context //nolint:containedctx // what the contexts of the calls are made of
	nested  bool            // base is that of a call on the same lane
	runners []runner[T]     // by slot
	epoch   *epoch          // of the calls that are under way; guarded by the room's mu; or nil
}

// runner is a slot of a batch, and the call in it.
type runner[T any] struct {
	flight[T]
	fn    func(context.Context) (T, error)
	inner context.Context //nolint:containedctx // what fn gets
}

// holds puts a call into the slot, or out of it. A lane that carries has something to say in
// the context that it makes for a call, and it may come to that only when the caller has left
// it, and the slot is another one's.
func (r *runner[T]) holds(fn func(context.Context) (T, error), e *epoch) {
	r.ctx, r.inner = e.ctx, e.inner
	if r.fn = fn; r.core.carrier != nil {
		r.flight.fn = fn
	}
}

// epoch is the time between two Cancels: the calls of one have one context together. That
// is a mark like that of any call, which says that they hold a slot of the lane.
type epoch struct {
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelCauseFunc
	inner  context.Context //nolint:containedctx // ctx, marked
	mark   *mark
}

// NewBatch makes a batch of so many slots, at least one, for calls on the lane of p. The calls
// get a context made of ctx. The error is an *ioerr.ArgumentError, or ErrShutdown.
func NewBatch[T, R any](ctx context.Context, p *Pool[R], size int) (*Batch[T], error) {
	var s stay
	c := p.own()
	if err := s.check(ctx, c, ""); err != nil {
		return nil, err
	}
	if size < 1 || size > maxBatch {
		return nil, c.bad("size", size, "must be 1 to 2^24")
	}
	b := &Batch[T]{core: c, base: ctx, nested: s.nested(ctx), runners: make([]runner[T], size)}
	b.room.tray.init(size)
	for i := range b.runners {
		r := &b.runners[i]
		r.end = func(v T, err error) {
			r.holds(nil, &epoch{})
			b.room.put(i, v, err)
		}
		r.flight.fn = func(context.Context) (T, error) { return r.fn(r.inner) }
	}
	return b, nil
}

const maxBatch = 1 << 24

// Add starts a call as [Async] does, and returns its slot of the batch. It waits for the call's
// turn in the lane if that is full; from inside a call of a full lane it runs the call at once,
// in the caller. The error is that of a call which does not run: ErrBatchFull if every slot of
// the batch holds a call or a result, or otherwise as for Async.
func (b *Batch[T]) Add(fn func(context.Context) (T, error), opts ...Option) (slot int, err error) {
	if b == nil || b.core == nil {
		return -1, argument("b", "pool.Batch", "was not made by pool.NewBatch")
	}
	c := b.core
	var s stay
	if err := s.check(b.base, c, lacks(fn == nil, "fn")); err != nil {
		return -1, err
	}
	if _, err := undoOf[T](opts); err != nil {
		return -1, c.count(invalid(err))
	}
	lc := callOf(opts)
	at, ok := b.room.take()
	if !ok {
		return -1, c.full(lc.Label)
	}
	begun := false
	defer func() {
		if !begun { // also if the lane or the context panics
			b.room.drop(at)
		}
	}()
	r, e := &b.runners[at], b.now()
	r.stay = stay{core: c, plain: true} // it needs no mark: there is that of the epoch
	r.holds(fn, e)
	lc.NoWait, lc.Beyond = b.nested, true
	err = r.admit(&lc, opts, true)
	if b.nested && errors.Is(err, ioerr.ErrReentry) {
		begun = true
		r.runHere(e.ctx, lc.Label)
		return at, nil
	}
	if err != nil {
		return -1, err
	}
	begun = true
	return at, nil
}

// now is the epoch that begins, or goes on.
func (b *Batch[T]) now() *epoch {
	b.room.mu.Lock()
	e := b.epoch
	b.room.mu.Unlock()
	if e != nil {
		return e
	}
	e = new(epoch) // not under mu: a context of somebody's making is asked
	e.ctx, e.cancel = context.WithCancelCause(b.base)
	if e.inner = e.ctx; !b.core.unguarded {
		e.mark = &mark{Context: e.ctx, site: &b.core.here}
		e.inner = e.mark
	}
	b.room.mu.Lock()
	other := b.epoch
	if other == nil {
		b.epoch = e
	}
	b.room.mu.Unlock()
	if other != nil {
		e.end()
		return other
	}
	return e
}

// end calls off the calls of an epoch, or lets go of its context.
func (e *epoch) end() {
	endContext(e.cancel, context.Canceled)
	if e.mark != nil {
		endContext(func(error) { e.mark.end() }, nil)
	}
}

// Await waits until least results are ready to be taken by Next, or no more will be since no
// call is under way, and returns how many are. If ctx ends first, the error is its cause with
// Effect Unknown, and the calls go on. A least that is not positive waits for nothing.
func (b *Batch[T]) Await(ctx context.Context, least int) (int, error) {
	switch {
	case b == nil || b.core == nil:
		return 0, argument("b", "pool.Batch", "was not made by pool.NewBatch")
	case ctx == nil:
		return 0, b.core.bad("ctx", nil, "must not be nil")
	}
	ready, ok := b.room.wait(ctx.Done(), least)
	if !ok {
		return ready, b.core.leftRunning(ctx, handle.ID{}, context.Cause(ctx))
	}
	return ready, nil
}

// Next takes out the result that has been ready for longest, and its slot is free again. It
// reports false if there is none.
func (b *Batch[T]) Next() (Result[T], bool) {
	if b == nil || b.core == nil {
		return Result[T]{}, false
	}
	return b.room.next()
}

// Cancel ends the context of the calls that are under way, and waits for their end. Their
// results are there to be taken: what a call has opened, if it has succeeded all the same,
// is not lost. After that the batch can be used again. It must not be called by a call of the
// batch, which it would wait for.
func (b *Batch[T]) Cancel() {
	if b == nil || b.core == nil {
		return
	}
	b.room.mu.Lock()
	e := b.epoch
	b.epoch = nil
	b.room.mu.Unlock()
	if e != nil {
		e.end()
	}
	b.room.wait(nil, len(b.runners)+1)
}
