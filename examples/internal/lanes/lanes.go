// Package lanes makes lanes by name, for programs that run on any.
package lanes

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// Names are the kinds that New makes.
func Names() []string {
	return []string{"threads", "sharded", "inline", "pinned", "abandoning", "ring"}
}

// New makes a lane of a kind that runs c.Workers calls at a time, on shards all together.
// Inline has no bound of its own: there the bound is up to the group.
func New(kind string, c lane.Config) (lane.Lane, error) {
	c.Name = kind
	switch kind {
	case "sharded":
		shards := shards(c.Workers, runtime.GOMAXPROCS(0))
		c.Workers /= shards
		return lane.NewSharded(lane.ShardedConfig{Config: c, Shards: shards})
	case "inline":
		return lane.NewInline(kind), nil
	case "pinned":
		return lane.NewPinned(lane.PinnedConfig{Config: c})
	case "abandoning": // what is measured here ends, and is never to be left
		return lane.NewAbandoning(lane.AbandoningConfig{Config: c, CallLimit: lane.NoLimit})
	case "ring": // so many threads, too, for where the system denies it the ring
		return lane.NewRing(lane.RingConfig{Config: c, Threads: c.Workers})
	default:
		return lane.NewThreads(c)
	}
}

// shards is the largest number of shards, up to a limit, that all have the same number of workers.
func shards(workers, limit int) int {
	n := min(workers, limit, 64)
	for workers%n != 0 {
		n--
	}
	return n
}

// Numbers reads the list of a flag: numbers of workers, with commas between them.
func Numbers(name, list string) (numbers []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n > most {
			reason := fmt.Sprintf("must be numbers from 1 to %d with commas between them", most)
			return nil, &ioerr.ArgumentError{Name: name, Value: list, Reason: reason}
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// most is how many workers any lane can have.
const most = 65_535
