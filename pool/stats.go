package pool

import "github.com/iolane/iolane/lane"

// State is the lifecycle of a pool. It only moves forward.
type State uint8

// The states.
const (
	Open     State = State(stateOpen)     // takes calls
	Draining State = State(stateDraining) // Shutdown was called and is not finished
	Closed   State = State(stateClosed)   // nothing is left
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Open:
		return "open"
	case Draining:
		return "draining"
	case Closed:
		return "closed"
	}
	return "not made by New"
}

// Stats is one snapshot of a pool. The counters of failures are those of this
// pool; Lane is everybody's who uses the lane.
type Stats struct {
	State   State
	Handles int // resources in use, idle or being opened
	Retired int // resources that are not in use any more and not yet disposed of

	Disposed      uint64 // resources disposed of, well or badly
	DisposeFailed uint64 // of these, badly
	HooksHanging  int    // hooks that were given up on, and still run
	Unwell        int    // handles that are not Healthy

	Failed    uint64 // calls that did not succeed, by outcome; Register and Replace are calls, Destroy and Shutdown are not
	Cancelled uint64
	TimedOut  uint64
	Shutdown  uint64
	Ran       uint64 // calls that did not succeed although they ran, or were left running; they are among the four above
	Panicked  uint64 // of these, by a panic
	Exited    uint64 // of these, by runtime.Goexit

	// Running are the calls that run, and Waiting those that wait for their handle or
	// the lane, the oldest first: those with a label and, if the pool is watched, all.
	Running, Waiting []Call

	EventsMissed   uint64 // that OnEvent was too slow to get
	CallbackPanics uint64 // in OnEvent

	Lane lane.Stats
}

// Stats returns a snapshot. It works whatever state the pool is in, and waits for
// no call.
func (p *Pool[R]) Stats() Stats {
	if p == nil || p.state.Load() == stateNone {
		return Stats{}
	}
	reg := p.reg.Stats()
	s := Stats{
		State:   State(p.state.Load()),
		Handles: reg.Live,
		Retired: reg.Retiring,
		Running: p.calls.list(false),
		Waiting: p.calls.list(true),
		Unwell:  int(p.ward.some.Load()),

		EventsMissed:   p.events.missed.Load(),
		CallbackPanics: p.events.panicked.Load(),
		HooksHanging:   p.hooks.hanging(),

		Lane: p.lane.Stats(),
	}
	p.counts.tell(&s)
	p.bin.mu.Lock()
	defer p.bin.mu.Unlock()
	s.Disposed, s.DisposeFailed = p.bin.disposed, p.bin.badly
	return s
}
