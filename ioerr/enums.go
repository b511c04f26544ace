package ioerr

import "strconv"

// Outcome says how a call ended that did not succeed.
type Outcome uint8

// The outcomes. The zero Outcome is never produced.
const (
	Failed             Outcome = iota + 1 // refused, or the call itself returned an error or panicked
	Cancelled                             // the caller's context was cancelled first
	TimedOut                              // a deadline passed first
	ShutdownInProgress                    // the pool or its lane was shutting down, or closed
)

// String returns the outcome in lower case words.
func (o Outcome) String() string {
	return name(uint8(o), "outcome", "failed", "cancelled", "timed out", "shutdown in progress")
}

// Origin says which layer ended the call.
type Origin uint8

// The origins. The zero Origin is never produced.
const (
	Leaf     Origin = iota + 1 // the call itself
	Handle                     // the handle: unknown, busy, waited for
	Executor                   // the pool: lifecycle, arguments
	Lane                       // the lane: admission
)

// String returns the name of the layer.
func (o Origin) String() string {
	return name(uint8(o), "origin", "call", "handle", "pool", "lane")
}

// Effect says whether the call ran, and so whether it may be repeated.
type Effect uint8

// The effects. The zero Effect is never produced.
const (
	None    Effect = iota + 1 // it never ran; an operation as data: or was called off before it had any effect
	Done                      // it ran to its end
	Unknown                   // it was left running
)

// String returns the effect in one word.
func (e Effect) String() string {
	return name(uint8(e), "effect", "none", "done", "unknown")
}

func name(v uint8, kind string, names ...string) string {
	if v == 0 || int(v) > len(names) {
		return kind + "(" + strconv.Itoa(int(v)) + ")"
	}
	return names[v-1]
}
