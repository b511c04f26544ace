package pool

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// interruption calls the hook Interrupt when the context of a call on a resource ends:
// once, while the call runs, and never when it has ended. So the end of the call stops
// it or, if the hook has begun, waits for it; the lease is given back after that, and
// the next call on the resource cannot be hit. A hook that does not return in time is
// left with the lease (state kept): it gives it back when it does return.
type interruption[R any] struct {
	pool  *Pool[R]
	entry *registry.Entry[resource[R]]
	stop  func() bool
	done  chan struct{} // closed when the hook has returned
	state atomic.Uint32
	me    atomic.Pointer[runningHook]
	lease registry.Lease[resource[R]] // to be given back by the hook; set before state
}

const (
	hookRuns uint32 = iota // or will, or will not
	hookEnded
	hookKeeps // the lease
)

// onResource makes the function of a call on a leased resource, which Config.Interrupt
// interrupts.
func onResource[T, R any](p *Pool[R], l registry.Lease[resource[R]], fn func(context.Context, R) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) {
		r := l.Resource.value
		if p.interrupt == nil {
			return fn(ctx, r)
		}
		i := p.interruptible(ctx, l.Entry, r)
		defer i.end()
		return fn(ctx, r)
	}
}

func (p *Pool[R]) interruptible(ctx context.Context, e *registry.Entry[resource[R]], r R) *interruption[R] {
	i := &interruption[R]{pool: p, entry: e, done: make(chan struct{})}
	i.stop = context.AfterFunc(ctx, func() { i.call(r) })
	return i
}

// call is the goroutine of the hook.
func (i *interruption[R]) call(r R) {
	p := i.pool
	me, done := p.hooks.enter("interrupt", i.entry.ID, true)
	i.me.Store(me)
	callHook("interrupt", i.entry.ID, func() error { p.interrupt(r); return nil }, func(err error) {
		if err != nil {
			p.hookFailed(err)
		}
		done()
		close(i.done)
		if !i.state.CompareAndSwap(hookRuns, hookEnded) {
			p.hooks.hangsNoMore()
			p.reg.Unbar(i.entry)
			p.giveBack(i.lease)
		}
	})
}

// end is the end of the call. The time that it waits for the hook is not the resource's.
func (i *interruption[R]) end() {
	if i.stop() {
		return
	}
	v := &i.entry.Resource.site.verdict
	v.broken = true
	began := time.Now()
	defer func() { v.waited = time.Since(began) }()
	select {
	case <-i.done:
		return
	default:
	}
	hooks := &i.pool.hooks
	patience := time.NewTimer(hooks.within)
	defer patience.Stop()
	for {
		select {
		case <-i.done:
			return
		case <-patience.C:
		}
		if hooks.mayHang() {
			i.entry.Resource.hung = i
			return
		}
		patience.Reset(hooks.within) // one of those that hang may have ended by then
	}
}

// keepLease leaves the lease with a hook that hangs, and bars the handle.
func (i *interruption[R]) keepLease(l registry.Lease[resource[R]]) bool {
	i.lease = l
	began := time.Now()
	i.pool.reg.Bar(l.Entry, func() error {
		return &ioerr.StuckError{Label: "interrupt", Age: time.Since(began), Err: ioerr.ErrHandleBusy}
	})
	if i.state.CompareAndSwap(hookRuns, hookKeeps) {
		if me := i.me.Load(); me != nil {
			i.pool.hooks.note(func() { me.keeps = true })
		}
		i.pool.hookFailed(&ioerr.HookError{Hook: "interrupt", Handle: l.ID, Err: ioerr.ErrHookTimeout})
		return true
	}
	i.pool.hooks.hangsNoMore()
	i.pool.reg.Unbar(l.Entry) // it has returned in the last moment
	return false
}
