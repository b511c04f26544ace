package lanetest_test

import (
	"context"
	"sync"
	"testing"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/lane/lanetest"
)

// semaphore is a lane of one's own: a buffered channel with a token for each call
// that runs. Callers that find it full wait to send, in order, up to queue of
// them; nobody waits for acceptance.
type semaphore struct {
	name  string
	slots chan struct{}
	queue int

	mu     sync.Mutex // guards what follows
	counts lane.Stats
	closed bool
	empty  chan struct{} // closed when the lane is, and the last call has left
}

func newSemaphore(c lane.Config) *semaphore {
	return &semaphore{
		name:  c.Name,
		slots: make(chan struct{}, c.Workers),
		queue: max(c.Queue, 0),
		empty: make(chan struct{}),
	}
}

func (s *semaphore) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	waits, err := s.admit(ctx, c)
	if !waits {
		return lane.Slot{}, err
	}
	granted := false
	select {
	case s.slots <- struct{}{}:
		granted = true
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Queued--
	if err := ctx.Err(); err != nil {
		if granted { // at the same moment: pass it on
			<-s.slots
		}
		s.counts.Dropped++
		s.lastOut()
		return lane.Slot{}, err
	}
	s.counts.Started++
	s.counts.Running++
	return lane.Slot{}, nil
}

// admit decides whether the caller runs, waits or is refused.
func (s *semaphore) admit(ctx context.Context, c lane.Call) (waits bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.counts
	switch {
	case s.closed:
		n.Refused.Shutdown++
		return false, ioerr.ErrShutdown
	case ctx.Err() != nil:
		n.Refused.Cancelled++
		return false, ctx.Err()
	}
	select {
	case s.slots <- struct{}{}:
		n.Started++
		n.Running++
		return false, nil
	default:
	}
	switch {
	case c.NoWait:
		n.Refused.Reentry++
		return false, ioerr.ErrReentry
	case n.Queued == s.queue:
		n.Refused.QueueFull++
		return false, ioerr.ErrQueueFull
	}
	n.Queued++
	return true, nil
}

func (s *semaphore) Leave(lane.Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	<-s.slots
	s.counts.Running--
	s.counts.Completed++
	s.lastOut()
}

// lastOut closes empty if nobody is here, nor can be again.
func (s *semaphore) lastOut() {
	if s.closed && s.counts.Running+s.counts.Queued == 0 {
		close(s.empty)
	}
}

func (s *semaphore) Name() string { return s.name }

func (s *semaphore) Capabilities() lane.Capabilities {
	return lane.Capabilities{Execution: lane.Guaranteed}
}

func (s *semaphore) Stats() lane.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts
	n.Name, n.Workers = s.name, cap(s.slots)
	n.Accepted = n.Started + uint64(n.Queued) + n.Dropped
	n.Submitted = n.Accepted + n.Refused.Total()
	return n
}

func (s *semaphore) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		s.lastOut()
	}
	s.mu.Unlock()
	select {
	case <-s.empty:
		return nil
	default:
	}
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// testSemaphore is what would be called TestSemaphore in a test file.
func testSemaphore(t *testing.T) {
	lanetest.Run(t, func(_ testing.TB, c lane.Config) lane.Lane {
		return newSemaphore(c)
	}, lanetest.Options{NoWaiters: true})
}

// A lane of one's own, and the test that it keeps the laws.
func Example() {
	_ = testSemaphore
}
