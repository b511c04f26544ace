package lane

import (
	"context"
	"errors"
	"sync"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/ringdriver"
)

// Operate implements [Operator].
func (l *Ring) Operate(ctx context.Context, c Call, op *Op) error {
	if ctx == nil {
		return noContext()
	}
	reset(op)
	if f := l.fiber(ctx); f != nil {
		return l.operateOn(ctx, f, c, op)
	}
	d := l.pick()
	if d == nil || !l.serves(d, op) {
		return l.onThread(ctx, c, op)
	}
	slot, err := l.operations.Enter(ctx, c)
	if err != nil {
		return err
	}
	defer l.operations.Leave(slot) // not before a thread has it: a shutdown would go past it
	inline := !l.noInline && l.tryInline(op)
	if !inline {
		d.Do(ctx, op)
	}
	if !inline && errors.Is(op.Err, ringdriver.ErrUnserved) {
		return l.insteadOnThread(ctx, c, op)
	}
	return nil
}

// tryInline reads what is in the page cache.
func (l *Ring) tryInline(op *Op) bool {
	if op.Kind != fileop.Read || op.File.Direct || !op.File.Seeks {
		return false
	}
	if op.TryCached() {
		l.count.cached.Add(1)
		return true
	}
	l.count.missed.Add(1)
	return false
}

// fiber is the fiber of this lane that the caller is, or nil.
func (l *Ring) fiber(ctx context.Context) *ringdriver.Fiber {
	f := ringdriver.On(ctx)
	if f == nil {
		return nil
	}
	if o, ok := f.Owner.(fiberOwner); !ok || o.lane != l {
		return nil
	}
	return f
}

// fiberOwner is what the lane knows of a fiber.
type fiberOwner struct {
	lane   *Ring
	nested bool // it was made inside a call of the lane
}

// operateOn is Operate for a fiber, which has its slot.
func (l *Ring) operateOn(ctx context.Context, f *ringdriver.Fiber, c Call, op *Op) error {
	c.inFiber(f)
	if f.Driver() == nil {
		return l.onThread(ctx, c, op)
	}
	if l.serves(f.Driver(), op) {
		f.Do(ctx, op)
		if op.Err == nil || !errors.Is(op.Err, ringdriver.ErrUnserved) {
			return nil
		}
		return l.away(ctx, f, c, op, l.insteadOnThread)
	}
	return l.away(ctx, f, c, op, l.onThread)
}

// away has an operation of a fiber done on a thread. It is a function of its own, since the
// variables that it shares with a goroutine would cost each operation an allocation.
func (l *Ring) away(ctx context.Context, f *ringdriver.Fiber, c Call, op *Op, do func(context.Context, Call, *Op) error) (err error) {
	f.Away(func() { err = do(ctx, c, op) })
	return err
}

// inFiber makes c a call from inside a fiber. That may wait for a thread, since it holds no
// slot of those, unless what is around it does; but not for a key, since it may hold that.
func (c *Call) inFiber(f *ringdriver.Fiber) {
	o, _ := f.Owner.(fiberOwner)
	c.NoWait, c.Key = o.nested, ""
}

// onThread does an operation by system calls.
func (l *Ring) onThread(ctx context.Context, c Call, op *Op) error {
	slot, err := l.gated.Enter(ctx, c)
	if err != nil {
		return err
	}
	defer l.gated.Leave(slot)
	l.doOnThread(ctx, op)
	return nil
}

// insteadOnThread does what the ring would not. It was admitted, so it is not refused: not
// even if ctx has ended, which the operation itself will see.
func (l *Ring) insteadOnThread(ctx context.Context, c Call, op *Op) error {
	c.Must, c.Key = true, ""
	slot, err := l.gated.Enter(context.WithoutCancel(ctx), c)
	switch {
	case err == nil:
		defer l.gated.Leave(slot)
	case !c.NoWait:
		return err
	} // else it may be what is around it that has the slot: so it is done under that
	l.doOnThread(ctx, op)
	return nil
}

// doOnThread has a slot for that.
func (l *Ring) doOnThread(ctx context.Context, op *Op) {
	l.count.threads.Add(1)
	was := op.Err
	op.Err = nil
	op.Do(ctx, l.signal.Of(op))
	if was == nil {
		return
	}
	l.count.fallback.Add(1)
	if errors.Is(was, ringdriver.ErrRefused) && op.Err == nil && op.File != nil { // so it was the ring's fault
		op.File.Without.Or(1 << op.Kind)
	}
}

// OperateAll implements [Operator].
func (l *Ring) OperateAll(ctx context.Context, c Call, ops []Op) error {
	if ctx == nil {
		return noContext()
	}
	if len(ops) == 0 {
		return ctx.Err()
	}
	f := l.fiber(ctx)
	d := l.pick()
	if f != nil {
		d = f.Driver()
		c.inFiber(f)
	}
	b := batch{lane: l, call: c, ops: ops}
	b.sort(d)
	if b.native == 0 {
		if f != nil && d != nil {
			var err error
			f.Away(func() { err = b.onThreads(ctx, false) })
			return err
		}
		return b.onThreads(ctx, false)
	}
	var held lanegate.Bundle
	if f == nil {
		slot, err := l.operations.Enter(ctx, c)
		if err != nil {
			return err
		}
		defer l.operations.Leave(slot)
	}
	held.Grab(l.operations.gates[0], b.native-1)
	defer held.DropAll()
	var beside sync.WaitGroup
	defer b.rethrow()
	defer beside.Wait() // also if ctx panics
	if len(b.threads) > 0 {
		beside.Go(func() { b.guard(func() { _ = b.onThreads(ctx, true) }) })
	}
	depth := 1 + held.Len()
	if f != nil {
		f.DoAll(ctx, ops, b.which, depth, &held)
		if len(b.threads) > 0 {
			f.Away(beside.Wait)
		}
	} else {
		d.DoAll(ctx, ops, b.which, depth, &held)
		beside.Wait()
	}
	if !b.collect() {
		return nil
	}
	if f != nil {
		f.Away(func() { _ = b.onThreads(ctx, true) })
		return nil
	}
	return b.onThreads(ctx, true)
}

// Fiber implements [Operator].
func (l *Ring) Fiber(ctx context.Context, c Call, fn func(context.Context)) error {
	if ctx == nil {
		return noContext()
	}
	slot, err := l.operations.Enter(ctx, c)
	if err != nil {
		return err
	}
	defer l.operations.Leave(slot)
	owner := fiberOwner{l, c.NoWait}
	if d := l.pick(); d != nil {
		d.Run(ctx, owner, fn)
	} else {
		ringdriver.RunHere(ctx, owner, fn)
	}
	return nil
}
