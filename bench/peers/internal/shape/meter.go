package shape

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/iolane/iolane/bench/peers/internal/result"
)

// meter adds up what the measured stretches of a run cost.
type meter struct {
	sum    totals
	at     totals // where the present stretch began
	calls  int
	refuse int
	lat    []int64
	most   int // threads
	clock  clock
}

// totals are counters of the process.
type totals struct {
	wall, cpu      time.Duration
	mallocs, bytes uint64
	goroutines     uint64
}

// clock counts nanoseconds from its own beginning. The time since a fixed instant
// is half as dear as the time of day.
type clock struct{ origin time.Time }

func (c clock) now() int64 { return int64(time.Since(c.origin)) }

// reset forgets everything, so that what came before counts as warming up, and
// clears the heap of it.
func (m *meter) reset() {
	*m = meter{clock: clock{time.Now()}}
	runtime.GC()
}

// start begins a measured stretch. What is read last here is read first at its end,
// so that reading the slow counters is not in the fast ones.
func (m *meter) start() {
	m.at.mallocs, m.at.bytes = allocated()
	m.at.goroutines = goroutinesStarted()
	m.at.cpu = cpuTime()
	m.at.wall = time.Duration(m.clock.now())
}

// stop ends the stretch, in which so many calls were made.
func (m *meter) stop(calls int) {
	m.sum.wall += time.Duration(m.clock.now()) - m.at.wall
	m.sum.cpu += cpuTime() - m.at.cpu
	m.sum.goroutines += goroutinesStarted() - m.at.goroutines
	mallocs, bytes := allocated()
	m.sum.mallocs += mallocs - m.at.mallocs
	m.sum.bytes += bytes - m.at.bytes
	m.calls += calls
	m.most = max(m.most, threadCount())
}

func allocated() (mallocs, bytes uint64) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return mem.Mallocs, mem.TotalAlloc
}

func goroutinesStarted() uint64 {
	started := [1]metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(started[:])
	return started[0].Value.Uint64()
}

func (m *meter) sample() result.Sample {
	n := float64(max(m.calls, 1))
	s := result.Sample{
		Calls:      m.calls,
		Refused:    m.refuse,
		Time:       float64(m.sum.wall) / n,
		Allocs:     float64(m.sum.mallocs) / n,
		Bytes:      float64(m.sum.bytes) / n,
		CPU:        float64(m.sum.cpu) / n,
		Goroutines: float64(m.sum.goroutines) / n,
		Threads:    m.most,
	}
	s.SetLatencies(m.lat)
	return s
}
