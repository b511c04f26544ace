package pool

import (
	"context"
	"sync/atomic"
	"time"
)

// lazyContext is a context that ends when end is called, made when somebody first
// asks for what only a true one can give: most pools come and go without.
//
// No end is missed: who makes it publishes it and then looks at ended, who ends it
// sets ended and then looks whether it was made, so at least one of the two cancels
// it.
type lazyContext struct {
	cause error // of its end
	ended atomic.Bool
	made  atomic.Pointer[cancellable]
}

type cancellable struct {
	context.Context
	cancel context.CancelCauseFunc
}

// end ends the context. It may be called again.
func (l *lazyContext) end() {
	l.ended.Store(true)
	if c := l.made.Load(); c != nil {
		c.cancel(l.cause)
	}
}

// get makes the context.
func (l *lazyContext) get() context.Context {
	c := l.made.Load()
	if c == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		l.made.CompareAndSwap(nil, &cancellable{ctx, cancel})
		c = l.made.Load()
	}
	if l.ended.Load() {
		c.cancel(l.cause) // also if neither its maker nor end has come to that yet
	}
	return c
}

// Deadline implements context.Context.
func (l *lazyContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done implements context.Context.
func (l *lazyContext) Done() <-chan struct{} { return l.get().Done() }

// Err implements context.Context.
func (l *lazyContext) Err() error {
	if !l.ended.Load() {
		return nil
	}
	return l.get().Err()
}

// Value implements context.Context. The package context asks it for what is needed to
// derive from it without a goroutine.
func (l *lazyContext) Value(key any) any { return l.get().Value(key) }
