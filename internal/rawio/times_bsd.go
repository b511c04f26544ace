//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package rawio

import (
	"syscall"
	"time"
)

func setTimes(fd uintptr, accessed, modified time.Time) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(fd), &st); err != nil {
		return err
	}
	if accessed.IsZero() {
		accessed = accessTime(&st)
	}
	if modified.IsZero() {
		modified = modTime(&st)
	}
	return syscall.Futimes(int(fd), []syscall.Timeval{syscall.NsecToTimeval(accessed.UnixNano()), syscall.NsecToTimeval(modified.UnixNano())})
}
