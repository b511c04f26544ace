package rawio

import (
	"syscall"
	"time"
)

// longest is what fits into a timespec of 32 bits: 34 years are for ever.
const longest = 1 << 30 * time.Second

func nanosleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	ts := syscall.NsecToTimespec(int64(min(d, longest)))
	return syscall.Nanosleep(&ts, nil)
}
