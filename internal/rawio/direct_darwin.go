package rawio

import "syscall"

// Direct is a flag of Open that is not the system's own: past the page cache, by F_NOCACHE.
const Direct = 1 << 30

const nativeDirect = false

func direct(fd uintptr) error { return fcntl(fd, syscall.F_NOCACHE, 1) }

func fcntl(fd, command, arg uintptr) error {
	//nolint:staticcheck // deprecated without an equal in package syscall
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, fd, command, arg); e != 0 {
		return e
	}
	return nil
}

func directIO(uintptr) (bool, error) { return false, nil }
func sectorSize(uintptr) int         { return 0 }

func appends(uintptr) bool { return false }

func nonBlocking(uintptr) bool { return false }
