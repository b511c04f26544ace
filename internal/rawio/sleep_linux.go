package rawio

import (
	"syscall"
	"time"
)

func nanosleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	ts := syscall.NsecToTimespec(int64(d))
	return syscall.Nanosleep(&ts, nil)
}
