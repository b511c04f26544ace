package uring

import (
	"fmt"
	"math/bits"
)

// Config says what ring is wanted. The zero value is a good one.
//
// No thread of the kernel ever takes the submissions (SQPOLL), and nobody polls a device
// (IOPOLL): the one wants a processor of its own, and took twice the time where it had none;
// the other wants devices with poll queues.
type Config struct {
	// Slots is how many operations there may be at a time, also those that are not
	// handed over yet. 256 if zero; at most MaxSlots.
	Slots int
	// Entries is one more than how many operations there may be that are not handed over
	// yet: one place is the ring's own. Enough for all slots, but at most 256, if zero. It is
	// rounded up to a power of two.
	Entries int
	// Thread says that the owner is locked to its thread, and that New, all methods and
	// Close are called on that thread. The kernel then makes completions in Enter only,
	// and interrupts nobody.
	Thread bool
}

// MaxSlots is the most that Config.Slots may be: the longest completion queue, less the
// operations of the ring's own and room for some cancellations.
const MaxSlots = maxCQ - own - minCancels

const (
	// own is how many operations a ring has for itself: see slots.go.
	own = 2
	// minCancels is how many cancellations there may be at a time at least, where there
	// are as many operations.
	minCancels = 30
)

// check fills in what is zero.
func (c *Config) check() error {
	bad := func(field string, value any) error {
		return &Error{Step: "config", Err: fmt.Errorf("%s out of range: %v", field, value)}
	}
	if c.Slots == 0 {
		c.Slots = 256
	}
	if c.Slots < 1 || c.Slots > MaxSlots {
		return bad("Slots", c.Slots)
	}
	if c.Entries == 0 {
		c.Entries = min(c.Slots+1, 256)
	}
	if c.Entries < 1 || c.Entries > maxSQ {
		return bad("Entries", c.Entries)
	}
	return nil
}

// powerOfTwo returns the smallest one that is not less than n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }
