package pool

import (
	"context"

	"github.com/iolane/iolane/internal/lanegate"
)

// The short way is for a call that has no options and finds a free slot of the pool's
// own lane at once. What there is to remember of it fits in registers, and nothing has
// to be looked up: that makes a call a third cheaper than the long way (run), which
// takes over wherever this one does not fit.

// open reports whether the short way is open at all: the pool admits calls by the one
// gate of its lane.
func (c *core) open() bool { return c != nil && c.short != nil && c.state.Load() == stateOpen }

// alive reports whether a call with the context would not be refused for it.
func alive(ctx context.Context) bool { return ctx != nil && ctx.Err() == nil }

// runShort runs a call that has its seat. at is what it holds beside that; plain says
// that the caller's context is context.Background().
func runShort[T any](ctx context.Context, plain bool, at *site, seat lanegate.Slot, fn func(context.Context) (T, error)) (v T, err error) {
	inner, m := at.begin(ctx, plain)
	ended := false
	defer func() {
		if !ended {
			err = at.unwound(recover(), "")
		}
		if m != nil {
			defer seat.Release() // a context of somebody's making may panic
			m.end()
			return
		}
		seat.Release()
	}()
	v, err = fn(inner)
	ended = true
	if err != nil {
		err = at.failed(err, "")
	}
	return v, err
}
