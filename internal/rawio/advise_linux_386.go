package rawio

import "syscall"

func advise(fd uintptr, off, size int64, advice int) error {
	low, high := halves(off)
	sizeLow, sizeHigh := halves(size)
	_, _, e := syscall.Syscall6(syscall.SYS_FADVISE64_64, fd, low, high, sizeLow, sizeHigh, uintptr(advice))
	if e != 0 {
		return e
	}
	return nil
}
