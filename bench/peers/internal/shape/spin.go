package shape

import "time"

// spin is work of so many steps. Not of so much time: a loop on the clock does less
// while its thread is not running, and so hides what it is meant to show.
//
//go:noinline
func spin(steps int) int {
	x := uint64(1)
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return int(x >> 63)
}

// Calibrate says how many steps of spin take a microsecond, by the fastest of
// several tries. All measurements that are compared must use one answer.
func Calibrate() float64 {
	const steps, tries = 400_000, 25
	best := time.Hour
	for range tries {
		began := time.Now()
		_ = spin(steps)
		best = min(best, time.Since(began))
	}
	return steps / (float64(best) / float64(time.Microsecond))
}
