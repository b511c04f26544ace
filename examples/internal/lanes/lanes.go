// Package lanes makes lanes by name, for programs that run on any.
package lanes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iolane/iolane/lane"
)

// Names are what New knows.
func Names() []string {
	return []string{"threads", "sharded", "inline", "abandoning", "pinned", "ring"}
}

// Known reports whether New knows a name, or else says which it knows.
func Known(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("-lane %q: must be one of %s", name, strings.Join(Names(), ", "))
}

// Numbers are those of a list such as "1,2,4", of at least 1, as the value of a flag.
func Numbers(flag, list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-%s: %q must be a number of at least 1", flag, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// New makes a lane for so many calls at a time (inline has no bound).
func New(name string, workers int) (lane.Lane, error) {
	c := lane.Config{Workers: workers}
	switch name {
	case "threads":
		return lane.NewThreads(c)
	case "sharded":
		shards := 2 - workers%2
		c.Workers = workers / shards // of each
		return lane.NewSharded(lane.ShardedConfig{Config: c, Shards: shards})
	case "inline":
		return lane.NewInline(""), nil
	case "abandoning":
		return lane.NewAbandoning(lane.AbandoningConfig{Config: c})
	case "pinned":
		return lane.NewPinned(lane.PinnedConfig{Config: c})
	case "ring": // of calls, for which it has threads
		return lane.NewRing(lane.RingConfig{Config: c, Threads: workers})
	}
	return nil, Known(name)
}
