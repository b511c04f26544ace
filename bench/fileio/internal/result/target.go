package result

import "time"

// Metric is what a target is about.
type Metric uint8

// The metrics. Ratio and Rate are to be at least so much, the others at most.
const (
	Ratio   Metric = iota // of rates, by rounds
	Rate                  // operations a second
	P99                   // seconds
	Elapsed               // seconds
	RSS                   // bytes
	Threads               // beyond GOMAXPROCS
)

// Target is one promise: what must be, and what is aimed at.
type Target struct {
	Row       string
	Case      string
	Contender string
	Than      string // for Ratio
	Metric    Metric
	Must, Aim float64
}

// Targets are those of the project, row by row.
func Targets() []Target {
	var all []Target
	for _, rows := range [][]Target{sequential(), small(), crowds(), engine()} {
		all = append(all, rows...)
	}
	return all
}

const (
	fiber     = "ring-fiber"
	batch     = "ring-batch"
	goroutine = "ring-goroutine"
	plain     = "fio-plain"
	finest    = "fio-best"
	pread     = "pread"
)

func sequential() []Target {
	var all []Target
	for _, c := range []string{batch, fiber} {
		all = append(all,
			Target{"512 KiB, depth 64, loop device, read", "loop/seq/read", c, plain, Ratio, 0.97, 1},
			Target{"512 KiB, depth 64, loop device, write", "loop/seq/write", c, plain, Ratio, 0.97, 1.05},
			Target{"512 KiB, depth 64, disk, read", "seq/read", c, plain, Ratio, 0.95, 1},
			Target{"512 KiB, depth 64, disk, write", "seq/write", c, plain, Ratio, 0.95, 1})
	}
	return all
}

func small() []Target {
	const row = "4 KiB direct random read, depth "
	return []Target{
		{row + "64", "rand/direct/read/64", fiber, plain, Ratio, 1.3, 1.8},
		{row + "64", "rand/direct/read/64", fiber, finest, Ratio, 0.85, 0.97},
		{row + "64", "rand/direct/read/64", batch, plain, Ratio, 1.5, 2.1},
		{row + "64", "rand/direct/read/64", batch, finest, Ratio, 0.95, 1.05},
		{row + "1", "rand/direct/read/1", fiber, plain, Ratio, 0.92, 0.97},
		{row + "4", "rand/direct/read/4", fiber, plain, Ratio, 0.90, 0.97},
		{row + "16", "rand/direct/read/16", fiber, plain, Ratio, 0.85, 0.97},
		{"p99, depth 64", "rand/direct/read/64", fiber, "", P99, 2e-3, 0.8e-3},
		{"p99, depth 64", "rand/direct/read/64", goroutine, "", P99, 2e-3, 0.8e-3},
		{"threads, depth 256", "rand/direct/read/256", fiber, "", Threads, 5, 5},
		{"threads, depth 256", "rand/direct/read/256", goroutine, "", Threads, 5, 5},
		{"threads, depth 256", "rand/direct/read/256", batch, "", Threads, 5, 5},
	}
}

func crowds() []Target {
	return []Target{
		{"64 goroutines in ReadAt", "goroutines/64", goroutine, pread, Ratio, 3.5, 5},
		{"1,024 goroutines in ReadAt", "goroutines/1024", goroutine, pread, Ratio, 4, 6},
		{"cached 4 KiB reads, 64 goroutines", "rand/hot/read/64", goroutine, pread, Ratio, 1.05, 1.2},
		{"half cached, depth 64", "rand/half/read/64", goroutine, pread, Ratio, 1.8, 2.4},
		{"all processors busy", "saturated/64", fiber, pread, Ratio, 1, 2.5},
		{"all processors busy", "saturated/64", goroutine, pread, Ratio, 0.7, 1},
	}
}

func engine() []Target {
	const mb = 1e6
	s := func(d time.Duration) float64 { return d.Seconds() }
	return []Target{
		{"no-ops, depth 64", "nop/64", fiber, "", Rate, 3e6, 4.5e6},
		{"no-ops, depth 64", "nop/64", goroutine, "", Rate, 1.2e6, 1.8e6},
		{"10,000 timers of 2 s", "timers/10000", batch, "", Elapsed, s(2100 * time.Millisecond), s(2030 * time.Millisecond)},
		{"10,000 timers of 2 s, memory", "timers/10000", batch, "", RSS, 12 * mb, 6 * mb},
		{"50,000 timers of 2 s", "timers/50000", batch, "", Elapsed, s(2300 * time.Millisecond), s(2060 * time.Millisecond)},
		{"50,000 timers of 2 s, memory", "timers/50000", batch, "", RSS, 30 * mb, 10 * mb},
	}
}
