package pool

import (
	"time"

	"github.com/iolane/iolane/lane"
)

// Option changes one call. Options are small values that allocate nothing.
type Option struct {
	kind option
	text string
	wait time.Duration
	undo any // a func(T) error
}

type option uint8

const (
	optNone option = iota
	optLabel
	optKey
	optAcceptWithin
	optPolicy
	optUrgent
	optUndo
)

// FailFast refuses the call when the queue is full (ErrQueueFull), the handle busy
// (ErrHandleBusy) or the key busy (ErrKeyBusy). It waits for its turn in a queue that
// has room; on a lane with lane.NoQueue it gets a free slot or is refused.
var FailFast = Option{kind: optPolicy, wait: time.Duration(lane.FailFast)}

// Wait makes the call wait for a place in the queue, also on a lane whose policy
// is FailFast.
var Wait = Option{kind: optPolicy, wait: time.Duration(lane.Wait)}

// Urgent lets the call use the slots that the lane keeps in reserve, and puts it
// in the queue of urgent calls.
var Urgent = Option{kind: optUrgent}

// Label names the call in errors, in Stats and in the report of a shutdown that
// it holds up. Naming a call costs several times as much as an uncontended call itself,
// since it is then listed with the time it began.
func Label(name string) Option { return Option{kind: optLabel, text: name} }

// Key makes the call count against the lane's limit for this key; see
// lane.Config.PerKey. In a Sharded lane the key also chooses the shard.
func Key(name string) Option { return Option{kind: optKey, text: name} }

// AcceptWithin bounds how long the call may wait for its handle and for a place
// in the lane's queue, together. Once accepted, only the context ends its wait; to
// bound the wait for a slot by AcceptWithin as well, use a lane with NoQueue and
// Waiters.
//
// After d the error is ErrAcceptTimeout with the outcome TimedOut; so it is at
// once for d <= 0, unless the call need not wait.
func AcceptWithin(d time.Duration) Option { return Option{kind: optAcceptWithin, wait: d} }

// callOf folds the options into what the lane needs; the last of a kind counts.
func callOf(opts []Option) (c lane.Call) {
	for i := range opts {
		switch o := &opts[i]; o.kind {
		case optLabel:
			c.Label = o.text
		case optKey:
			c.Key = o.text
		case optPolicy:
			c.Policy = lane.Policy(o.wait)
		case optUrgent:
			c.Urgent = true
		case optAcceptWithin:
			c.Accept = time.Now().Add(o.wait)
		case optNone, optUndo:
		}
	}
	return c
}
