package pool_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// minimal is a lane as a user may write it in an afternoon: a channel as
// semaphore. It keeps the contract of lane.Lane and is not lane.Gated.
type minimal struct {
	name    string
	slots   chan struct{}
	closing chan struct{}
	closed  atomic.Bool
	waiting atomic.Int64
	started atomic.Uint64
	ended   atomic.Uint64
}

var _ lane.Lane = (*minimal)(nil)

func newMinimal(name string, slots int) *minimal {
	return &minimal{name: name, slots: make(chan struct{}, slots), closing: make(chan struct{})}
}

func (m *minimal) Enter(ctx context.Context, c lane.Call) (lane.Slot, error) {
	if m.closed.Load() {
		return lane.Slot{}, ioerr.ErrShutdown
	}
	if err := ctx.Err(); err != nil {
		return lane.Slot{}, err
	}
	select {
	case m.slots <- struct{}{}:
		return m.admit()
	default:
	}
	switch {
	case c.NoWait:
		return lane.Slot{}, ioerr.ErrReentry
	case c.Policy == lane.FailFast && !c.Must:
		return lane.Slot{}, ioerr.ErrQueueFull
	}
	var expired <-chan time.Time
	if !c.Accept.IsZero() {
		timer := time.NewTimer(time.Until(c.Accept))
		defer timer.Stop()
		expired = timer.C
	}
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	select {
	case m.slots <- struct{}{}:
		return m.admit()
	case <-m.closing:
		return lane.Slot{}, ioerr.ErrShutdown
	case <-ctx.Done():
		return lane.Slot{}, ctx.Err()
	case <-expired:
		return lane.Slot{}, ioerr.ErrAcceptTimeout
	}
}

func (m *minimal) admit() (lane.Slot, error) {
	m.started.Add(1)
	return lane.Slot{Token: 1}, nil
}

func (m *minimal) Leave(s lane.Slot) {
	if s.Token != 1 {
		panic("not my slot")
	}
	m.ended.Add(1)
	<-m.slots
}

func (m *minimal) Name() string { return m.name }

func (m *minimal) Capabilities() lane.Capabilities {
	return lane.Capabilities{Execution: lane.Guaranteed}
}

func (m *minimal) Stats() lane.Stats {
	ended := m.ended.Load() // before started, so that it is not the larger one
	started := m.started.Load()
	return lane.Stats{
		Name: m.name, Workers: cap(m.slots), Running: int(started - ended), Queued: int(m.waiting.Load()),
		Started: started, Completed: ended,
	}
}

// Shutdown waits by taking all slots, and gives them back for the next one.
func (m *minimal) Shutdown(ctx context.Context) error {
	if m.closed.CompareAndSwap(false, true) {
		close(m.closing)
	}
	for i := range cap(m.slots) {
		select {
		case m.slots <- struct{}{}:
			continue
		default:
		}
		select {
		case m.slots <- struct{}{}:
		case <-ctx.Done():
			for range i {
				<-m.slots
			}
			return ctx.Err()
		}
	}
	for range cap(m.slots) {
		<-m.slots
	}
	return nil
}
