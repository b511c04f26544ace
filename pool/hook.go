package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// callHook calls a function of the user and then done, exactly once and in any
// case, with nil or a *ioerr.HookError for whatever went wrong: an error, a
// panic, or runtime.Goexit, after which the goroutine ends.
func callHook(name string, id fmt.Stringer, fn func() error, done func(error)) {
	err := ioerr.ErrGoexit
	defer func() {
		if r := recover(); r != nil {
			err = &ioerr.PanicError{Value: r, Stack: debug.Stack()}
		}
		if err != nil {
			err = &ioerr.HookError{Hook: name, Handle: id, Err: err}
		}
		done(err)
	}()
	err = fn()
}

// hooks runs the hooks of the user that take a slot of the lane, like any call, but
// whatever its state. One that does not return in time loses its slot, so it holds up
// nobody; but only as long as fewer than maxHung hang, since each costs a thread.
type hooks struct {
	core   *core
	within time.Duration

	mu      sync.Mutex // a leaf
	hung    int        // past their time, without a slot, and still running
	running []*runningHook
}

const maxHung = 32

// perform runs a hook on this goroutine, or on a thread of the lane if that has such, and
// returns when it has ended. over is called once, when the hook has ended (with what went
// wrong) or its time is up (with hangs); only in the latter case late is called when the
// hook has ended.
func (h *hooks) perform(name string, id handle.ID, hook func() error, over func(err error, hangs bool), late func()) {
	// Must: neither a full queue nor the shutdown under way keeps it out. What
	// remains is a shared lane that its owner has closed, or a lane of somebody
	// else's making that does not know Must; then the hook runs without a slot, unless
	// it is for the threads of the lane: then it does not run, and that is reported.
	call := lane.Call{Label: name, Handle: id.Uint64(), Owner: h.core.owner, Policy: lane.Wait, Must: true}
	r := &hookRun{hooks: h, name: name, id: id, hook: hook, over: over, late: late}
	if h.core.carrier != nil && h.core.lane.Capabilities().DedicatedThreads {
		d := &duty{hookRun: r, done: make(chan struct{})}
		err := h.core.carrier.Carry(context.Background(), call, d)
		if err != nil && !errors.Is(err, ioerr.ErrLeft) {
			over(&ioerr.HookError{Hook: name, Handle: id, Err: err}, false)
			return
		}
		<-d.done
		return
	}
	if slot, err := h.core.lane.Enter(context.Background(), call); err == nil {
		r.leave = func() { h.core.lane.Leave(slot) }
	}
	r.run(r.ended)
}

// hookRun is one hook that runs under a slot. Whichever comes first, its end or the end
// of its time, settles the matter.
type hookRun struct {
	hooks *hooks
	name  string
	id    handle.ID
	hook  func() error
	leave func() // gives back the slot; nil if that is not for the hook to do
	over  func(err error, hangs bool)
	late  func()

	mu      sync.Mutex // a leaf
	me      *runningHook
	timer   *time.Timer
	settled bool
}

// run calls the hook, and then ended with what went wrong.
func (r *hookRun) run(ended func(error)) {
	me, exit := r.hooks.enter(r.name, r.id, false)
	r.mu.Lock()
	r.me = me
	r.timer = time.AfterFunc(r.hooks.within, r.giveUp)
	r.mu.Unlock()
	callHook(r.name, r.id, r.hook, func(err error) {
		exit()
		ended(err)
	})
}

// settle reports whether the matter is for the caller to settle.
func (r *hookRun) settle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.settled
	r.settled = true
	r.timer.Stop()
	return first
}

// giveUp is the goroutine of the timer.
func (r *hookRun) giveUp() {
	switch {
	case !r.hooks.mayHang():
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.settled {
			r.timer.Reset(r.hooks.within) // one of those that hang may have ended by then
		}
	case !r.settle():
		r.hooks.hangsNoMore()
	default:
		if r.leave != nil {
			r.hooks.note(func() { r.me.slotless = true })
			r.leave()
		}
		r.over(&ioerr.HookError{Hook: r.name, Handle: r.id, Err: ioerr.ErrHookTimeout}, true)
	}
}

func (r *hookRun) ended(err error) {
	if !r.settle() {
		r.hooks.hangsNoMore()
		r.late()
		return
	}
	if r.leave != nil {
		r.leave()
	}
	r.over(err, false)
}

// duty is a hook as a carrier sees it. It has ended when its slot has been given back.
type duty struct {
	*hookRun
	err  error         // of the hook
	done chan struct{} // closed by End
}

// Run implements [lane.Task].
func (d *duty) Run(lane.Thread) { d.run(func(err error) { d.err = err }) }

// Ending implements [lane.Task].
func (d *duty) Ending(error) {}

// Left implements [lane.Task].
func (d *duty) Left(time.Duration) {}

// End implements [lane.Task].
func (d *duty) End(_ bool, err error) {
	defer close(d.done)
	if err != nil {
		d.err = errors.Join(d.err, &ioerr.HookError{Hook: d.name, Handle: d.id, Err: err})
	}
	d.ended(d.err)
}

// runningHook is a hook that runs, in time or past it.
type runningHook struct {
	goroutine string
	name      string
	id        handle.ID
	began     time.Time
	slotless  bool
	keeps     bool // the lease of its resource, though its call has ended
}

// enter notes that this goroutine runs a hook, until the function that it returns is
// called.
func (h *hooks) enter(name string, id handle.ID, slotless bool) (me *runningHook, exit func()) {
	me = &runningHook{goroutine(), name, id, time.Now(), slotless, false}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = append(h.running, me)
	return me, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.running = slices.DeleteFunc(h.running, func(r *runningHook) bool { return r == me })
	}
}

// note changes what is known of a hook.
func (h *hooks) note(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// list returns the hooks that run.
func (h *hooks) list() []runningHook {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]runningHook, 0, len(h.running))
	for _, r := range h.running {
		all = append(all, *r)
	}
	return all
}

// works reports whether the calling goroutine runs a hook.
func (h *hooks) works() bool {
	running := h.list()
	if len(running) == 0 {
		return false
	}
	me := goroutine() // which is slow
	return slices.ContainsFunc(running, func(r runningHook) bool { return r.goroutine == me })
}

func (h *hooks) mayHang() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hung >= maxHung {
		return false
	}
	h.hung++
	return true
}

func (h *hooks) hangsNoMore() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hung--
}

func (h *hooks) hanging() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hung
}
