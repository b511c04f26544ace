package pool

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/iolane/iolane/lane"
)

// A call that would wait for itself is told apart by the context that it was given.
// A caller that did not pass it on could wait for ever; so where that is at stake,
// and only there, its stack is looked at, too. The stack shows a call, but not of
// which pool: a caller that is taken for what it is not can always say who it is by
// passing its context on.

// inside reports whether the caller is inside a hook or a call of the pool, or, if
// its context does not tell, inside some call while the pool has calls running.
func (p *Pool[R]) inside(ctx context.Context) bool {
	if p.unguarded {
		return false
	}
	if p.hooks.works() {
		return true
	}
	if m := markOf(ctx); m != nil {
		return m.holdsPool(&p.core)
	}
	return p.state.Load() != stateClosed && p.busy() && onStack()
}

// busy reports whether calls of the pool are running.
func (p *Pool[R]) busy() bool {
	if p.fibers.count() > 0 {
		return true
	}
	if p.gate == nil {
		s := p.lane.Stats()
		return s.Running > 0 || len(s.Left) > 0
	}
	return p.gate.Stats().Running > 0 || p.reg.AnyHeld()
}

// holdsSlot reports whether the caller holds a slot of the pool's lane, in a call or
// a hook, or, if its context does not tell, whether it is inside some call and could
// be who holds the resource, or the slot that its disposal would need.
func (p *Pool[R]) holdsSlot(ctx context.Context, held bool) bool {
	if p.unguarded {
		return false
	}
	if p.hooks.works() {
		return true
	}
	if m := markOf(ctx); m != nil {
		return m.holdsLane(p.lane)
	}
	if !onStack() {
		return false
	}
	s := p.lane.Stats()
	full := func(s lane.Stats) bool { return s.Running >= s.Workers }
	return held || full(s) || slices.ContainsFunc(s.Shards, full)
}

// onStack reports whether a call of some pool is on the goroutine's stack.
func onStack() bool {
	pc := make([]uintptr, 64)
	for skip := 2; ; skip += len(pc) {
		n := runtime.Callers(skip, pc)
		frames := runtime.CallersFrames(pc[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			switch name, _, _ := strings.Cut(f.Function, "["); name {
			case pkg + "run", pkg + "runShort", pkg + "transact", pkg + "runFiber", pkg + "(*parcel", pkg + "(*flight":
				return true
			}
		}
		if n < len(pc) {
			return false
		}
	}
}

// goroutine identifies the calling goroutine by the first line of its stack trace,
// "goroutine 17 [running]:", which is too slow for calls and good enough for hooks.
func goroutine() string {
	line := make([]byte, 32)
	name, _, _ := strings.Cut(string(line[:runtime.Stack(line, false)]), " [")
	return name
}

const pkg = "github.com/iolane/iolane/pool."
