package lanetest

import (
	"context"
	"errors"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// A Shutdown that is under way, and a lane that is closed.

// closing is one call of Shutdown or Drain, on a goroutine of its own.
type closing struct {
	done chan struct{}
	err  error // settled when done is closed
}

// async calls f.
func (h *hall) async(f func() error) *closing {
	c := &closing{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = f()
	}()
	return c
}

func (h *hall) shutdown(ctx context.Context) *closing {
	return h.async(func() error { return h.lane.Shutdown(ctx) })
}

func (c *closing) returned() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// closed waits until a shutdown under way has closed the door.
func (h *hall) closed() {
	h.Helper()
	h.await("newcomers are refused once Shutdown was called", func() bool {
		return errors.Is(h.ask(context.Background(), lane.Call{NoWait: true}), ioerr.ErrShutdown)
	})
}

// kinds are the calls that no lane treats alike.
func kinds() map[string]lane.Call {
	return map[string]lane.Call{
		"plain":    {},
		"waiting":  {Policy: lane.Wait},
		"FailFast": {Policy: lane.FailFast},
		"NoWait":   {NoWait: true},
	}
}

// allRefused checks that a closed lane refuses every kind of caller. Lifecycle
// comes first: a dead context changes nothing.
func (h *hall) allRefused() {
	h.Helper()
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	for _, ctx := range []context.Context{context.Background(), dead} {
		for kind, c := range kinds() {
			if err := h.ask(ctx, c); !errors.Is(err, ioerr.ErrShutdown) {
				h.Errorf("in a closed lane a %s call got: %v (its context: %v), want: %v", kind, err, ctx.Err(), ioerr.ErrShutdown)
			}
		}
	}
}

// endsWith checks what a Shutdown returns, in true time.
func (h *hall) endsWith(want error, c *closing) {
	h.Helper()
	select {
	case <-c.done:
	case <-time.After(limit):
		h.Fatalf("Shutdown has not returned after %v", limit)
	}
	if !errors.Is(c.err, want) {
		h.Errorf("Shutdown: %v, want %v", c.err, want)
	}
}
