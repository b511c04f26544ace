package rawio

import (
	"syscall"
	"time"
	"unsafe"
)

// omit, as the nanoseconds of a time, leaves that as it is (UTIME_OMIT).
const omit = 1<<30 - 2

func setTimes(fd uintptr, accessed, modified time.Time) error {
	at := [2]syscall.Timespec{{Nsec: omit}, {Nsec: omit}}
	for i, t := range []time.Time{accessed, modified} {
		if !t.IsZero() {
			at[i] = syscall.NsecToTimespec(t.UnixNano())
		}
	}
	if _, _, e := syscall.Syscall6(syscall.SYS_UTIMENSAT, fd, 0, uintptr(unsafe.Pointer(&at)), 0, 0, 0); e != 0 {
		return e
	}
	return nil
}
