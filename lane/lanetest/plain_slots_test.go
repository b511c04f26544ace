package lanetest

import (
	"bytes"
	"context"
	"runtime/debug"
	"slices"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// The second half of plain: what happens to slots, the lifecycle, and what can be
// seen. In all lower-case methods l.mu is held.

func (l *plain) start() {
	l.running++
	l.stats.Started++
}

// free gives a slot to whose turn it is, or to nobody.
func (l *plain) free() {
	l.running--
	if l.running < l.cfg.Workers && len(l.queue) > 0 && !l.is("freed slots are forgotten") {
		next := 0
		if l.is("the newest is served first") {
			next = len(l.queue) - 1
		}
		t := l.queue[next]
		l.queue = slices.Delete(l.queue, next, next+1)
		l.stats.Queued--
		if l.barges() {
			t.answer <- againError{}
		} else {
			l.start()
			t.answer <- nil
		}
		l.promote()
	}
	l.rest()
}

// rest tells the callers of Drain when nobody is here.
func (l *plain) rest() {
	if l.running == 0 && len(l.queue) == 0 {
		for _, c := range l.idle {
			close(c)
		}
		l.idle = nil
	}
}

// promote accepts those for whom there is room.
func (l *plain) promote() {
	for len(l.room) > 0 && len(l.queue)+l.ghosts < l.cfg.Queue {
		l.queue = append(l.queue, l.room[0])
		l.room = l.room[1:]
		l.stats.Waiting--
		l.stats.Queued++
		l.stats.Promoted++
	}
}

func (l *plain) Leave(lane.Slot) {
	if l.is("a slot is lost by a panic") && bytes.Contains(debug.Stack(), []byte("panic(")) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free()
}

func (l *plain) Try() (lane.Slot, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.is("Try passes a sealed lane") || !l.sealed && l.running < l.cfg.Workers && len(l.queue) == 0 {
		l.start()
		return lane.Slot{}, true
	}
	return lane.Slot{}, false
}

func (l *plain) Name() string { return l.cfg.Name }

func (l *plain) Capabilities() lane.Capabilities {
	if l.is("nothing is promised") {
		return lane.Capabilities{}
	}
	return lane.Capabilities{Execution: lane.Guaranteed}
}

func (l *plain) Stats() lane.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Workers, s.Running = l.cfg.Workers, l.running
	s.Completed = s.Started - uint64(s.Running)
	s.Accepted = s.Started + uint64(s.Queued) + s.Dropped
	s.Submitted = s.Accepted + uint64(s.Waiting) + s.Refused.Total()
	switch {
	case l.is("statistics do not add up"):
		s.Completed = s.Started
	case l.is("waiters count as queued"):
		s.Queued, s.Waiting = s.Queued+s.Waiting, 0
		s.Accepted += uint64(len(l.room))
	}
	return s
}

func (l *plain) Seal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sealed = true
	if !l.is("who waits learns nothing of Shutdown") {
		l.fail(func(*ticket) bool { return true })
	}
	if l.is("accepted calls are forgotten at Shutdown") {
		for _, t := range l.queue {
			t.answer <- ioerr.ErrShutdown
		}
		l.stats.Refused.Shutdown += uint64(len(l.queue))
		l.stats.Queued, l.queue = 0, nil
	}
}

// fail refuses the chosen of those that are not accepted.
func (l *plain) fail(chosen func(*ticket) bool) {
	var stay []*ticket
	for _, t := range l.room {
		if !chosen(t) {
			stay = append(stay, t)
			continue
		}
		t.answer <- ioerr.ErrShutdown
		l.stats.Waiting--
		l.stats.Refused.Shutdown++
	}
	l.room = stay
}

func (l *plain) Evict(owner uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail(func(t *ticket) bool {
		return owner != 0 && t.call.Owner == owner || l.is("Evict meets everybody")
	})
	if owner != 0 && !l.is("Evict is forgotten at once") {
		l.evicted[owner] = true
	}
}

func (l *plain) Forget(owner uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.is("Evict is for ever") {
		delete(l.evicted, owner)
	}
}

func (l *plain) Drain(ctx context.Context) error {
	l.mu.Lock()
	if l.running == 0 && len(l.queue) == 0 || l.is("Drain returns early") {
		l.mu.Unlock()
		return nil
	}
	idle := make(chan struct{})
	l.idle = append(l.idle, idle)
	l.mu.Unlock()
	if l.is("Shutdown has no bound") {
		ctx = context.Background()
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *plain) Shutdown(ctx context.Context) error {
	if l.is("Shutdown before first use does nothing") && l.Stats().Submitted == 0 {
		return nil
	}
	l.Seal()
	l.mu.Lock()
	l.closers++
	first := l.closers == 1
	l.mu.Unlock()
	if l.is("Shutdown returns early") || !first && l.is("a second Shutdown returns at once") {
		return nil
	}
	if err := l.Drain(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	l.shut = true
	l.mu.Unlock()
	return l.Drain(ctx)
}

// loose is a plain lane that cannot be compared.
type loose struct {
	*plain
	_ []int
}
