package rawio

import (
	"errors"
	"io/fs"
	"syscall"
)

func open(path string, flags int, perm fs.FileMode) (uintptr, error) {
	h, err := syscall.Open(path, flags|syscall.O_CLOEXEC, uint32(perm.Perm()))
	return uintptr(h), err
}

func closeFD(fd uintptr) error { return syscall.CloseHandle(syscall.Handle(fd)) }

func read(fd uintptr, p []byte) (int, error)  { return syscall.Read(syscall.Handle(fd), p) }
func write(fd uintptr, p []byte) (int, error) { return syscall.Write(syscall.Handle(fd), p) }

func at(off int64) *syscall.Overlapped {
	return &syscall.Overlapped{Offset: uint32(off), OffsetHigh: uint32(off >> 32)}
}

func pread(fd uintptr, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	var n uint32
	err := syscall.ReadFile(syscall.Handle(fd), p, &n, at(off))
	if errors.Is(err, syscall.ERROR_HANDLE_EOF) {
		err = nil
	}
	return int(n), err
}

func pwrite(fd uintptr, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	var n uint32
	err := syscall.WriteFile(syscall.Handle(fd), p, &n, at(off))
	return int(n), err
}

func fsync(fd uintptr) error     { return syscall.Fsync(syscall.Handle(fd)) }
func fdatasync(fd uintptr) error { return fsync(fd) }

func flock(uintptr, int) error { return errors.ErrUnsupported }
