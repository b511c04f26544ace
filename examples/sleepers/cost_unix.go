//go:build linux || darwin

package main

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// costs are those of the process so far.
type costs struct {
	processor time.Duration
	memory    int64 // the most there was, in bytes
}

func cost() (c costs) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return c
	}
	c.processor = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	c.memory = int64(u.Maxrss) //nolint:unconvert // an int32 on 32-bit systems
	if runtime.GOOS == "linux" {
		c.memory *= 1024
	}
	return c
}
