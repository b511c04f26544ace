package rawio

import "syscall"

// fullFsync is F_FULLFSYNC: fsync alone leaves the data in the cache of the drive.
const fullFsync = 51

func fsync(fd uintptr) error {
	//nolint:staticcheck // deprecated without an equal in package syscall
	_, _, e := syscall.Syscall(syscall.SYS_FCNTL, fd, fullFsync, 0)
	if e != 0 {
		return e
	}
	return nil
}

func fdatasync(fd uintptr) error { return fsync(fd) }
