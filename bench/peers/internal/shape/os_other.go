//go:build !linux

package shape

import (
	"errors"
	"time"
)

// Elsewhere the module compiles, so that its tests can be checked, and measures
// less: no processor time, no threads, no system calls of its own.

func cpuTime() time.Duration { return 0 }

func threadCount() int { return 0 }

func nanosleep(time.Duration) error { return errors.ErrUnsupported }

func pread(uintptr, []byte, int64) (int, error) { return 0, errors.ErrUnsupported }
