package rawio

import (
	"io"
	"syscall"
	"unsafe"
)

// Direct is a flag of Open: past the page cache.
const Direct = syscall.O_DIRECT

// nativeDirect: open knows the flag.
const nativeDirect = true

// direct makes an open file direct: not a pipe, of which the flag means something else.
func direct(fd uintptr) error {
	flags, err := fileFlags(fd)
	if err != nil {
		return err
	}
	if _, err := syscall.Seek(int(fd), 0, io.SeekCurrent); err != nil {
		return err
	}
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETFL, uintptr(flags|syscall.O_DIRECT)); e != 0 {
		return e
	}
	return nil
}

func directIO(fd uintptr) (bool, error) {
	flags, err := fileFlags(fd)
	return flags&syscall.O_DIRECT != 0, err
}

// fileFlags are those with which a file is open.
func fileFlags(fd uintptr) (int, error) {
	flags, _, e := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	if e != 0 {
		return 0, e
	}
	return int(flags), nil
}

// blkSSZGet is BLKSSZGET of ioctl.
const blkSSZGet = 0x1268

func sectorSize(fd uintptr) int {
	var size int32
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, blkSSZGet, uintptr(unsafe.Pointer(&size))); e != 0 {
		return 0
	}
	return int(size)
}
