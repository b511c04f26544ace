package rawio

import (
	"io"
	"syscall"
)

func fallocate(fd uintptr, mode uint32, off, size int64) error {
	return syscall.Fallocate(int(fd), mode, off, size)
}

// Commands of fcntl, for locks of an open file.
const (
	ofdSetLock     = 37
	ofdSetLockWait = 38
)

func lockRange(fd uintptr, how int, off, size int64) error {
	lock := syscall.Flock_t{Whence: io.SeekStart, Start: off, Len: size}
	switch how &^ LockNoWait {
	case LockShared:
		lock.Type = syscall.F_RDLCK
	case LockExclusive:
		lock.Type = syscall.F_WRLCK
	case Unlock:
		lock.Type = syscall.F_UNLCK
	default:
		return syscall.EINVAL
	}
	command := ofdSetLockWait
	if how&LockNoWait != 0 {
		command = ofdSetLock
	}
	return syscall.FcntlFlock(fd, command, &lock)
}
