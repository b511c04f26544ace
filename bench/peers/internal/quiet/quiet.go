// Package quiet tells when every goroutine but the caller's is parked: the only
// point in time at which "all of them wait in the queue by now" can be known of
// any executor, without asking it.
package quiet

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"time"
)

// errNever says that something went on running.
var errNever = errors.New("quiet: there is always a goroutine that runs")

const patience = 10 * time.Second

// Wait returns when no other goroutine runs or is about to. Goroutines inside a
// system call are not looked at. The caller must be alone: two that wait for quiet
// wait for each other.
func Wait() error { return wait(patience) }

func wait(patience time.Duration) error {
	counts := []metrics.Sample{
		{Name: "/sched/goroutines/running:goroutines"},
		{Name: "/sched/goroutines/runnable:goroutines"},
	}
	began := time.Now()
	for tries := 1; ; tries++ {
		runtime.Gosched()
		// Both counts are taken under the scheduler's lock. While one goroutine
		// runs, which is this one, nobody is there to make another runnable.
		metrics.Read(counts)
		if counts[0].Value.Uint64() <= 1 && counts[1].Value.Uint64() == 0 {
			return nil
		}
		if tries%64 == 0 {
			if time.Since(began) > patience {
				return errNever
			}
			time.Sleep(20 * time.Microsecond) // let the processor go too
		}
	}
}
