package threadlimit

import (
	"math"
	"runtime/debug"
)

// system reads the limits of this process.
func system() []Limit { return append(ofSystem(), Limit{By: "debug.SetMaxThreads", Max: maxThreads()}) }

// maxThreads is what debug.SetMaxThreads was last given, 10,000 by default. It can
// only be read by setting it. A program that sets it at the same moment finds its own
// value in force afterwards, though not as the result of a later call that comes in between.
func maxThreads() int {
	limit := debug.SetMaxThreads(math.MaxInt32)
	if meanwhile := debug.SetMaxThreads(limit); meanwhile != math.MaxInt32 {
		limit = meanwhile
		debug.SetMaxThreads(limit)
	}
	return limit
}
