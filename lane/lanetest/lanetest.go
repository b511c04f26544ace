// Package lanetest tells whether a lane keeps the laws that package lane states.
//
// A test of a lane runs the suite on it:
//
//	func TestSemaphore(t *testing.T) {
//		lanetest.Run(t, func(t testing.TB, c lane.Config) lane.Lane {
//			return newSemaphore(c)
//		}, lanetest.Options{NoWaiters: true})
//	}
//
// Each law is a subtest that bears its name, so a failure says which law is
// broken, and go test -run can ask for one of them. The suite knows the lane by
// its interface alone: it enters, holds its calls at gates of its own, and looks
// at who is inside. Laws of [lane.Gated] and [lane.Carrier] are checked if the lane is
// one.
//
// Time and blocking are those of a testing/synctest bubble, so the suite is quick
// and sees the same every time. Only where true system calls, true time or the
// number of goroutines matter does a law run outside.
package lanetest

import (
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/lane"
)

// Options says what the lane under test leaves out, so that a lane of limited
// ability that says so passes. The zero Options is for a lane that honours
// Workers, Queue, Waiters, Policy and Patience of [lane.Config] and every field
// of [lane.Call] but Key, Handle and Urgent, which the suite does not use.
type Options struct {
	// Unbounded: every call runs at once.
	Unbounded bool

	// NoQueue: nobody waits for a slot. A caller that finds none free is refused
	// with ErrQueueFull (or ErrOverloaded, unless it fails fast).
	NoQueue bool

	// NoWaiters: nobody waits for acceptance. A caller that finds the queue full is
	// refused with ErrQueueFull (or ErrOverloaded, unless it fails fast).
	NoWaiters bool

	// Slots is how many calls a lane runs at a time that was made with the given
	// Config. Nil means Config.Workers.
	Slots func(lane.Config) int

	// Carry checks the laws of calls that come by Carry of a [lane.Carrier], where else
	// they come by Enter. A lane that has both should pass with and without.
	Carry bool

	// RealTime runs the whole suite outside of bubbles. It is for lanes whose own
	// goroutines wait in system calls, and takes some seconds instead of none.
	RealTime bool
}

// Run checks every law on fresh lanes made by open, which fails the test itself
// if it cannot make one. The suite shuts its lanes down.
func Run(t *testing.T, open func(t testing.TB, c lane.Config) lane.Lane, o Options) {
	t.Helper()
	o.NoQueue = o.NoQueue || o.Unbounded
	o.NoWaiters = o.NoWaiters || o.NoQueue
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			if lacks := l.needs.lacking(o); lacks != "" {
				t.Skip("the lane has no " + lacks)
			}
			l.run(t, &hall{open: open, opt: o})
		})
	}
}

// law is one promise and how it is checked.
type law struct {
	name  string
	needs need
	real  bool // outside of bubbles
	check func(*hall)
}

func laws() []law {
	var all []law
	for _, part := range [][]law{
		slotLaws(), queueLaws(), orderLaws(), leavingLaws(), shutdownLaws(), statsLaws(), gatedLaws(), carryLaws(),
	} {
		all = append(all, part...)
	}
	return all
}

// need is what a law is about; a lane without it cannot break the law.
type need uint8

const (
	nothing need = iota
	bound
	queue
	waiters
)

func (n need) lacking(o Options) string {
	switch {
	case n >= bound && o.Unbounded:
		return "bound"
	case n >= queue && o.NoQueue:
		return "queue"
	case n >= waiters && o.NoWaiters:
		return "waiters"
	}
	return ""
}

func (l law) run(t *testing.T, h *hall) {
	if l.real || h.opt.RealTime {
		h.TB = t
		l.check(h)
		return
	}
	// What goes wrong with a bubble as a whole, such as a caller that the lane
	// never lets go, is a panic of synctest.Test.
	defer func() {
		if r := recover(); r != nil {
			h.replay(t)
			t.Errorf("%v", r)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		h.TB, h.bubble = t, true
		l.check(h)
	})
}
