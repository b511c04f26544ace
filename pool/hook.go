package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
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
	running []string   // the goroutines that run them, in time or past it
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
	if h.core.carrier != nil && h.core.lane.Capabilities().DedicatedThreads {
		d := &duty{name: name, id: id, over: make(chan struct{})}
		d.run = func() {
			h.run(name, id, hook, func() {}, over, late, func(settle func(error)) { d.settle = settle })
		}
		err := h.core.carrier.Carry(context.Background(), call, d)
		if err != nil && !errors.Is(err, ioerr.ErrLeft) {
			over(&ioerr.HookError{Hook: name, Handle: id, Err: err}, false)
			return
		}
		<-d.over
		return
	}
	slot, err := h.core.lane.Enter(context.Background(), call)
	leave := func() {
		if err == nil {
			h.core.lane.Leave(slot)
		}
	}
	h.run(name, id, hook, leave, over, late, func(settle func(error)) { settle(nil) })
}

// run is perform with a slot. Whichever comes first, the end of the hook or the end of
// its time, settles the matter: ended is called when the hook has ended, and has settle
// called once, with what went wrong after that.
func (h *hooks) run(name string, id handle.ID, hook func() error, leave func(), over func(err error, hangs bool), late func(), ended func(settle func(error))) {
	var settled atomic.Bool
	var giveUp func()
	giveUp = func() {
		switch {
		case settled.Load():
			return
		case !h.mayHang():
			time.AfterFunc(h.within, giveUp) // one of those that hang may have ended by then
			return
		case !settled.CompareAndSwap(false, true):
			h.hangsNoMore()
			return
		}
		leave()
		over(&ioerr.HookError{Hook: name, Handle: id, Err: ioerr.ErrHookTimeout}, true)
	}
	me := goroutine()
	h.enter(me)
	watch := time.AfterFunc(h.within, giveUp)
	callHook(name, id, hook, func(err error) {
		watch.Stop()
		h.exit(me)
		ended(func(after error) {
			if !settled.CompareAndSwap(false, true) {
				h.hangsNoMore()
				late()
				return
			}
			leave()
			if after != nil {
				err = errors.Join(err, after)
			}
			over(err, false)
		})
	})
}

// duty is a hook as a carrier sees it. It is settled when its slot has been given back.
type duty struct {
	name   string
	id     handle.ID
	run    func()
	settle func(error)
	over   chan struct{} // closed by End
}

// Run implements [lane.Task].
func (d *duty) Run(lane.Thread) { d.run() }

// Ending implements [lane.Task].
func (d *duty) Ending(error) {}

// Left implements [lane.Task].
func (d *duty) Left(time.Duration) {}

// End implements [lane.Task].
func (d *duty) End(_ bool, err error) {
	defer close(d.over)
	if err != nil {
		err = &ioerr.HookError{Hook: d.name, Handle: d.id, Err: err}
	}
	d.settle(err)
}

// enter and exit note that a goroutine runs a hook.
func (h *hooks) enter(goroutine string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = append(h.running, goroutine)
}

func (h *hooks) exit(goroutine string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = slices.DeleteFunc(h.running, func(g string) bool { return g == goroutine })
}

// works reports whether the calling goroutine runs a hook.
func (h *hooks) works() bool {
	h.mu.Lock()
	running := slices.Clone(h.running)
	h.mu.Unlock()
	return len(running) > 0 && slices.Contains(running, goroutine()) // which is slow
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
