package rawio

import "syscall"

// Direct is a flag of Open that is not the system's own: past the page cache, by F_NOCACHE.
const Direct = 1 << 30

const nativeDirect = false

func direct(fd uintptr) error {
	_, err := fcntl(fd, syscall.F_NOCACHE, 1)
	return err
}

// fileFlags are those with which a file is open.
func fileFlags(fd uintptr) (int, error) { return fcntl(fd, syscall.F_GETFL, 0) }

func fcntl(fd, command, arg uintptr) (int, error) {
	//nolint:staticcheck // deprecated without an equal in package syscall
	v, _, e := syscall.Syscall(syscall.SYS_FCNTL, fd, command, arg)
	if e != 0 {
		return 0, e
	}
	return int(v), nil
}

func directIO(uintptr) (bool, error) { return false, nil }
func sectorSize(uintptr) int         { return 0 }
