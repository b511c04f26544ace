package rawio

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/iolane/iolane/internal/uring"
)

const (
	atCWD       = -100
	atNoFollow  = 0x100
	atEmptyPath = 0x1000
)

func statx(fd int, path *byte, flags int) (Info, error) {
	var st uring.Statx
	_, _, e := syscall.Syscall6(sysStatx, uintptr(fd), uintptr(unsafe.Pointer(path)), uintptr(flags), StatxMask,
		uintptr(unsafe.Pointer(&st)), 0)
	if e != 0 {
		return Info{}, e
	}
	return FromStatx(&st), nil
}

func fstat(fd uintptr) (Info, error) {
	var empty byte
	i, err := statx(int(fd), &empty, atEmptyPath)
	if isAny(err, syscall.ENOSYS) {
		return oldFstat(fd)
	}
	return i, err
}

func stat(path string, noFollow bool) (Info, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return Info{}, err
	}
	flags := 0
	if noFollow {
		flags = atNoFollow
	}
	i, err := statx(atCWD, p, flags)
	if isAny(err, syscall.ENOSYS) {
		return oldStat(path, noFollow)
	}
	return i, err
}

func modTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()) }
