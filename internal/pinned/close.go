package pinned

import (
	"context"
	"errors"

	"github.com/iolane/iolane/ioerr"
)

// maxStops is how many StopErrors are kept for Close.
const maxStops = 16

// Close refuses newcomers, waits until those that wait or run have run, runs Stop on
// each thread and ends the threads, the kept ones too: their children get their signal
// now. It returns when the last goroutine has nothing left to do, with the first
// 16 StopErrors, or ctx.Err() if that ends first; the closing then goes on, and
// another Close waits for it. Not from inside a task, for which it would wait.
func (s *Threads) Close(ctx context.Context) error {
	s.shut()
	select {
	case <-s.over.Done():
	default:
		select {
		case <-s.over.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.stops...)
}

// shut begins the closing, once.
func (s *Threads) shut() {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return
	}
	s.closing = true
	idle, kept := s.idle, s.kept
	s.idle, s.kept = nil, nil
	last := s.live == 0
	s.mu.Unlock()
	for _, t := range idle {
		t.Wake()
	}
	for _, t := range kept {
		t.Wake()
	}
	if last {
		s.over.Fire()
	}
}

// await waits until each of the first threads is ready, or gives up all of them.
func (s *Threads) await(first <-chan error) error {
	var lowest *ioerr.StartError
	for range s.seats {
		err := <-first
		if e, ok := errors.AsType[*ioerr.StartError](err); ok && (lowest == nil || e.Thread < lowest.Thread) {
			lowest = e
		}
	}
	if lowest == nil {
		return nil
	}
	s.shut()
	<-s.over.Done()
	if len(s.stops) > 0 {
		return errors.Join(lowest, errors.Join(s.stops...))
	}
	return lowest
}
