package ringdriver

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/iolane/iolane/internal/fileop"
)

const (
	// penance is how often a fiber that has blocked a driver is run on a goroutine of its
	// own, before it may try again.
	penance = 100
	// nobody is no driver's generation.
	nobody = 1<<63 - 1
)

// The states of a fiber; see the package comment.
const (
	parked uint32 = iota
	running
	early
)

// Fiber is a function that runs as a coroutine on the driver.
type Fiber struct {
	Owner any // who has made it

	d     *Driver // nil: there is none, and it runs on its caller's goroutine
	fn    func(context.Context)
	state atomic.Uint32
	gen   uint64 // of the driver that has switched to it last; for that one and for itself

	resume func() (struct{}, bool) // switches to it
	yield  func(struct{}) bool     // switches back
	g      atomic.Uintptr          // its goroutine; 0 before and after
	over   bool                    // it has ended: seen after it has switched back for the last time
	panic  any                     // what it ended with
	exited bool                    // by runtime.Goexit
	aside  int                     // how many times it is still to be run apart from the driver

	base  context.Context //nolint:containedctx // a fiber is a call
	req   request
	away  message
	ended bool // base has; the owner's
	fin   chan struct{}
}

// fiberContext is what the function of a fiber gets.
type fiberContext struct {
	context.Context
	fiber *Fiber
}

type fiberKey struct{}

// Value implements context.Context.
func (c *fiberContext) Value(key any) any {
	if key == (fiberKey{}) {
		return c.fiber
	}
	return c.Context.Value(key)
}

// On returns the fiber that the caller is, if ctx is of a fiber and the caller on its
// goroutine; else nil.
func On(ctx context.Context) *Fiber {
	var f *Fiber
	if c, ok := ctx.(*fiberContext); ok {
		f = c.fiber
	} else if f, _ = ctx.Value(fiberKey{}).(*Fiber); f == nil {
		return nil
	}
	if g := self(); g == 0 || f.g.Load() != g { // 0: it cannot be told
		return nil
	}
	return f
}

// Driver is who runs the fiber, or nil if it runs on its caller's goroutine.
func (f *Fiber) Driver() *Driver { return f.d }

// RunHere runs fn as a fiber without a driver, on the caller's goroutine.
func RunHere(ctx context.Context, owner any, fn func(context.Context)) {
	f := &Fiber{Owner: owner}
	f.g.Store(self())
	defer f.g.Store(0)
	fn(&fiberContext{ctx, f})
}

// Run runs fn as a fiber of the owner's and waits for its end. If it panics, so does Run; if it ends
// its goroutine, Run ends that of the caller.
func (d *Driver) Run(ctx context.Context, owner any, fn func(context.Context)) {
	if self() == 0 {
		RunHere(ctx, owner, fn)
		return
	}
	f := &Fiber{Owner: owner, d: d, fn: fn, base: ctx, fin: make(chan struct{}, 1)}
	f.req.begin = message{kind: begin, req: &f.req}
	f.req.fiber = f
	f.away = message{kind: start, fiber: f}
	if ctx.Done() != nil {
		last := &message{kind: end, fiber: f}
		defer context.AfterFunc(ctx, func() { d.send(last) })()
	}
	d.watch(+1)
	d.send(&f.away)
	<-f.fin
	d.watch(-1)
	switch {
	case f.panic != nil:
		panic(f.panic)
	case f.exited:
		runtime.Goexit()
	}
}

// create makes the coroutine. It is for a driver to do: a coroutine belongs to the thread
// that its maker is locked to, and the caller of Run may be.
func (f *Fiber) create() { f.resume, _ = iter.Pull(f.body) }

// body is the coroutine.
func (f *Fiber) body(yield func(struct{}) bool) {
	f.yield = yield
	f.g.Store(self())
	returned := false
	defer func() {
		f.over = true
		f.g.Store(0)
		if !returned {
			f.panic = recover()
			f.exited = f.panic == nil
		}
	}()
	f.fn(&fiberContext{f.base, f})
	returned = true
}

// Do is [Driver.Do] for a fiber.
func (f *Fiber) Do(ctx context.Context, op *fileop.Op) {
	f.DoAll(ctx, unsafe.Slice(op, 1), nil, 1, nil)
}

// DoAll is [Driver.DoAll] for a fiber.
func (f *Fiber) DoAll(ctx context.Context, ops []fileop.Op, which []int32, depth int, slots Slots) {
	r := &f.req
	if number(ops, which) == 0 {
		return
	}
	r.use(ops, which, depth, slots)
	// All that a context of somebody's making may do, it does before the beginning: it may
	// panic, and it may wait for a fiber that waits for the ring.
	done := ctx.Done()
	r.bound = done != nil && done == f.base.Done()
	if done != nil && !r.bound {
		off := &message{kind: cancel, req: r, turn: r.turn}
		defer context.AfterFunc(ctx, func() { f.d.send(off) })()
	}
	if ctx.Err() != nil {
		r.calledOff = true
	}
	if f.d.lend(f) {
		f.d.begins(r)
		f.d.describeAll()
	} else {
		f.d.send(&r.begin)
	}
	f.yield(struct{}{})
	r.forget()
}

// Away runs fn on a goroutine of its own, while the driver goes on, and waits for it.
func (f *Fiber) Away(fn func()) {
	var panicked any
	returned := false
	f.away.kind = wake
	f.d.helpers.Go(func() {
		defer func() {
			panicked = recover()
			f.d.send(&f.away)
		}()
		fn()
		returned = true
	})
	f.yield(struct{}{})
	switch {
	case panicked != nil:
		panic(panicked)
	case !returned:
		runtime.Goexit()
	}
}

// lend makes the running fiber the owner of the ring, until it yields. It reports false if
// another driver has taken over.
func (d *Driver) lend(f *Fiber) bool {
	return d.state.CompareAndSwap(f.gen<<1|1, f.gen<<1)
}

// enterFiber is what a driver does before it switches to a fiber.
func (d *Driver) enterFiber(f *Fiber, gen uint64) {
	f.gen = gen
	f.state.Store(running)
	if d.next%16 == 1 { // not each time: what it costs would be seen, and the watch looks for milliseconds
		d.turns.Add(1)
	}
	d.state.Store(gen<<1 | 1)
}

// back is what a driver does when a fiber has switched back, and reports whether it
// still owns the ring.
func (d *Driver) back(f *Fiber, gen uint64) (mine bool) {
	if d.state.CompareAndSwap(gen<<1|1, gen<<1) || d.state.Load() == gen<<1 {
		switch {
		case f.over:
			d.woken++
			f.fin <- struct{}{}
		case f.state.CompareAndSwap(running, parked):
		default: // early
			f.state.Store(parked)
			d.ready = append(d.ready, f)
		}
		return true
	}
	f.aside = penance
	f.settle()
	return false
}

// settle is what becomes of a fiber that has switched back to somebody who is not the owner.
func (f *Fiber) settle() {
	switch {
	case f.over:
		f.fin <- struct{}{}
	case f.state.CompareAndSwap(running, parked):
	default: // early
		f.state.Store(parked)
		f.away.kind = wake
		f.d.send(&f.away)
	}
}

// runAside is the goroutine of a fiber that has blocked a driver not long ago.
func (f *Fiber) runAside() {
	defer f.settle() // also if it ends the goroutine
	f.aside--
	f.gen = nobody
	f.state.Store(running)
	f.resume()
}

// ripen makes a fiber ready to go on, or notes that it need not park.
func (d *Driver) ripen(f *Fiber) {
	if f.state.Load() == parked || !f.state.CompareAndSwap(running, early) {
		d.ready = append(d.ready, f)
	}
}
