package iolane_test

// What bounds the throughput of blocking system calls. A goroutine in a system call
// keeps its processor (P) until sysmon, the runtime's monitor, takes it back, which
// it does when it finds the same call twice. Sysmon sleeps 20 us between two looks;
// after 50 looks at which it took nothing it doubles its sleep each time, up to 10 ms.
// Calls shorter than that sleep it then never sees twice, takes nothing, and so stays
// lazy: on few processors the calls run one after another, as many at a time as there
// are processors, however many slots there are. A GOMAXPROCS of cores and slots
// together helps, since whoever is ready then finds a processor that is free.
//
// "overlap" is how many calls were in progress on average, at best as many as there
// are slots.

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	blockSlots   = 8
	blockCallers = 64
)

// BenchmarkBlocking: 64 callers over 8 slots, sleeping in the kernel. "steady" is
// eight calls of 50 us by each caller. "after-cpu" is one call of 5 ms by each, when
// the processors have been busy for 100 ms; "after-calls" the same after short calls.
// Both make sysmon lazy, but it is woken when it finds a processor on which nobody
// else had a turn for 10 ms, as may be after work on the processor.
func BenchmarkBlocking(b *testing.B) {
	all := runtime.NumCPU() + blockSlots
	for _, w := range []struct {
		name  string
		calls int // by each caller
		d     time.Duration
		procs []int
		first func(procs int, x executor) // not timed
	}{
		{"steady-50us", 8, 50 * time.Microsecond, []int{2, 4, 8, all}, nil},
		{"after-cpu-5ms", 1, 5 * time.Millisecond, []int{1, 2, all}, func(procs int, _ executor) {
			occupy(procs, 100*time.Millisecond)
		}},
		{"after-calls-5ms", 1, 5 * time.Millisecond, []int{1, 2, all}, func(_ int, x executor) {
			crowd(blockCallers, 8, x, new(tally), func() error { return nanosleep(50 * time.Microsecond) })
		}},
	} {
		d := alone(w.d)
		slices.Sort(w.procs)
		for _, procs := range slices.Compact(w.procs) {
			for _, s := range sides {
				if s.name != "semaphore" && s.name != "threads" {
					continue
				}
				b.Run(fmt.Sprintf("%s/procs=%d/%s", w.name, procs, s.name), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					x := s.start(b, matched(blockSlots, blockCallers))
					defer x.stop()
					var t tally
					for b.Loop() {
						if w.first != nil {
							b.StopTimer()
							w.first(procs, x)
							b.StartTimer()
						}
						crowd(blockCallers, w.calls, x, &t, func() error { return nanosleep(w.d) })
					}
					t.report(b)
					b.ReportMetric(float64(t.done.Load())*float64(d)/float64(b.Elapsed()), "overlap")
				})
			}
		}
	}
}

// alone is how long a sleep of d takes when nothing else runs: the kernel adds its
// slack.
func alone(d time.Duration) time.Duration {
	took := make([]time.Duration, 25)
	for i := range took {
		t := time.Now()
		_ = nanosleep(d)
		took[i] = time.Since(t)
	}
	return slices.Min(took)
}

// occupy keeps so many processors busy for d.
func occupy(procs int, d time.Duration) {
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range procs {
		wg.Go(func() {
			for time.Now().Before(end) {
				spin(1000)
			}
		})
	}
	wg.Wait()
}

func nanosleep(d time.Duration) error {
	t := syscall.NsecToTimespec(int64(d))
	for {
		// A signal of the runtime cuts the sleep short, which leaves the rest in t.
		if err := syscall.Nanosleep(&t, &t); err != syscall.EINTR {
			return err
		}
	}
}
