package pool

import (
	"context"
	"runtime"
	"strings"
)

// inside reports whether the caller is, or seems to be, inside a call of the
// pool. The context tells for sure. A caller that did not pass its context on is
// found by its stack, which does not tell the pool: it is taken to be inside if
// the pool has calls running at all.
func (c *core) inside(ctx context.Context) bool {
	if c.unguarded {
		return false
	}
	if m := markOf(ctx); m != nil {
		return m.holdsPool(c)
	}
	return c.state.Load() != stateClosed && c.running() > 0 && onStack()
}

// holdsSlot reports whether the caller is, or seems to be, inside a call of the
// pool's lane, in the same manner.
func (c *core) holdsSlot(ctx context.Context) bool {
	if c.unguarded {
		return false
	}
	if m := markOf(ctx); m != nil {
		return m.holdsLane(c.lane)
	}
	return onStack()
}

// running is the number of calls inside, as far as the pool can tell. Calls with a
// handle on a lane that is not the pool's own are counted with the lane's.
func (c *core) running() int { return c.lane.Stats().Running }

// onStack reports whether a call or a hook of some pool is on the goroutine's
// stack.
func onStack() bool {
	pc := make([]uintptr, 64)
	for skip := 2; ; skip += len(pc) {
		n := runtime.Callers(skip, pc)
		frames := runtime.CallersFrames(pc[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			switch name, _, _ := strings.Cut(f.Function, "["); name {
			case pkg + "Run", pkg + "Transact", pkg + "opened", pkg + "callHook":
				return true
			}
		}
		if n < len(pc) {
			return false
		}
	}
}

const pkg = "github.com/iolane/iolane/pool."
