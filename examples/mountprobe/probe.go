package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// prober asks file systems, at most a few at a time, and leaves those that do not answer.
type prober struct {
	calls    *pool.Pool[struct{}]
	deadline time.Duration
	ask      func(path string) error
}

// workers is how many file systems are asked at a time.
const workers = 8

func newProber(deadline time.Duration, paths int, ask func(string) error) (*prober, error) {
	// Every path may hang, and then has one call left on it; the next is refused.
	l, err := lane.NewAbandoning(lane.AbandoningConfig{
		Config: lane.Config{Name: "mounts", Workers: workers, Queue: max(paths, 1)},
		Grace:  lane.NoGrace,
		Left:   min(max(paths, 1), 4096), // as many as a lane allows
	})
	if err != nil {
		return nil, err
	}
	calls, err := pool.New(pool.Config[struct{}]{Lane: l, OwnsLane: true})
	if err != nil {
		return nil, err
	}
	return &prober{calls, deadline, ask}, nil
}

// The states of a path.
const (
	stateOK    = "ok"
	stateError = "error"
	stateHung  = "hung" // a call on it has not come back
)

// report is what one probe found.
type report struct {
	path, state string
	took        time.Duration // until the answer, or since the call that hangs began
	err         error         // of stateError
}

func (r report) String() string {
	s := fmt.Sprintf("%-5s %8v  %s", r.state, r.took.Round(time.Microsecond), r.path)
	if r.err != nil {
		s += ": " + r.err.Error()
	}
	return s
}

// round probes all paths at once and returns what it found, in their order.
func (p *prober) round(ctx context.Context, paths []string) []report {
	reports := make([]report, len(paths))
	var wg sync.WaitGroup
	for i, path := range paths {
		wg.Go(func() { reports[i] = p.probe(ctx, path) })
	}
	wg.Wait()
	return reports
}

// probe asks one path. The time for the answer begins when it is asked, not while the
// call waits for others.
func (p *prober) probe(ctx context.Context, path string) report {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ask := p.ask // the call may outlive the prober's caller: it shares nothing with it
	deadline := p.deadline
	asked, err := pool.Offload(ctx, p.calls, func(ctx context.Context) (time.Duration, error) {
		defer time.AfterFunc(deadline, func() { cancel(context.DeadlineExceeded) }).Stop()
		began := time.Now()
		err := ask(path)
		return time.Since(began), err
	}, pool.Label("statfs "+path), pool.Key(path))
	r := report{path: path, state: stateOK, took: asked}
	if err == nil {
		return r
	}
	r.state = stateHung
	if stuck, ok := errors.AsType[*ioerr.StuckError](err); ok {
		r.took = stuck.Age
	} else if left, ok := errors.AsType[*ioerr.LeftError](err); ok {
		r.took = left.Age
	} else {
		r.state, r.err, r.took = stateError, err, time.Since(began)
	}
	return r
}
