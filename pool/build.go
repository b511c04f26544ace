package pool

import (
	"context"

	"github.com/iolane/iolane/lane"
)

// What those need who build on a pool, as package lend does.

// CallOf is what the options say, as a lane is told it. Accept is the deadline of
// AcceptWithin, counted from now.
func CallOf(opts ...Option) lane.Call { return callOf(opts) }

// Inside reports whether ctx is that of a call that runs on the pool's lane, of this pool or
// of another, or the caller is a hook of the pool: who waits there might wait for itself. It
// is false if the pool is Unguarded, or nil.
func (p *Pool[R]) Inside(ctx context.Context) bool {
	if p == nil || p.lane == nil || p.unguarded || ctx == nil {
		return false
	}
	return p.hooks.works() || !identical(ctx, context.Background()) && markOf(ctx).holdsLane(p.lane)
}

// Draining returns a context that ends, with the cause ErrShutdown, when the pool begins to
// shut down. It is for what has callers of its own waiting, who are to be told then. The pool
// must not be nil.
func (p *Pool[R]) Draining() context.Context { return &p.draining }
