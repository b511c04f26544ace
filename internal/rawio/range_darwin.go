package rawio

import (
	"errors"
	"syscall"
	"unsafe"
)

// fstore is fstore_t of fcntl(2).
type fstore struct {
	flags, mode                uint32
	offset, length, bytesAlloc int64
}

const (
	allocateAll = 4 // F_ALLOCATEALL
	fromTheEnd  = 3 // F_PEOFPOSMODE
)

func fallocate(fd uintptr, mode uint32, off, size int64) error {
	if mode != 0 {
		return errors.ErrUnsupported
	}
	if off < 0 || size <= 0 {
		return syscall.EINVAL
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(int(fd), &st); err != nil {
		return err
	}
	more := off + size - st.Size
	if more <= 0 {
		return nil
	}
	s := fstore{flags: allocateAll, mode: fromTheEnd, length: more}
	if _, err := fcntl(fd, syscall.F_PREALLOCATE, uintptr(unsafe.Pointer(&s))); err != nil {
		return err
	}
	return truncate(fd, off+size)
}
