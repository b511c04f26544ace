//go:build linux || darwin

package cost

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Now is what the process has cost so far.
func Now() (c Cost) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return c
	}
	c.Processor = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	c.Memory = int64(u.Maxrss) //nolint:unconvert // an int32 on 32-bit systems
	if runtime.GOOS == "linux" {
		c.Memory *= 1024
	}
	return c
}
