package pool

import (
	"context"

	"github.com/iolane/iolane/lane"
)

// starterOf is the lane as one that tells when it has admitted a call.
func starterOf(carrier lane.Carrier) lane.Starter {
	if s, ok := carrier.(lane.Starter); ok {
		return s
	}
	return waiting{carrier}
}

// waiting is a lane that cannot tell when it has admitted a call: whoever starts one waits
// until it begins, and a goroutine for its end.
type waiting struct{ lane.Carrier }

// Start implements [lane.Starter].
func (l waiting) Start(ctx context.Context, c lane.Call, t lane.Task) (lane.Started, error) {
	w := &waited{Task: t, begun: make(chan struct{}), over: make(chan struct{})}
	go w.carry(ctx, l.Carrier, c)
	select {
	case <-w.begun:
		return w, nil
	case <-w.over:
	}
	switch {
	case w.panicked != nil:
		panic(w.panicked)
	case w.err != nil && !w.hasBegun():
		return nil, w.err
	}
	return w, nil
}

// waited is a call on such a lane.
type waited struct {
	lane.Task
	begun    chan struct{} // closed when it begins
	over     chan struct{} // closed when Carry has returned
	err      error         // of Carry
	panicked any           // by the lane or by a context of somebody's making, before it has begun
}

// Run implements [lane.Task].
func (w *waited) Run(on lane.Thread) {
	close(w.begun)
	w.Task.Run(on)
}

// Wait implements [lane.Started].
func (w *waited) Wait() error {
	<-w.over
	return w.err
}

func (w *waited) carry(ctx context.Context, l lane.Carrier, c lane.Call) {
	defer func() {
		if !w.hasBegun() {
			w.panicked = recover()
		}
		close(w.over)
	}()
	w.err = l.Carry(ctx, c, w)
}

func (w *waited) hasBegun() bool {
	select {
	case <-w.begun:
		return true
	default:
		return false
	}
}
