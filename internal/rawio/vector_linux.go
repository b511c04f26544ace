package rawio

import (
	"errors"
	"syscall"
	"unsafe"
)

const (
	maxVectors = 1024 // the kernel's limit
	fewVectors = 16   // so many need no memory of the heap

	rwfNoWait = 0x8
	rwfAppend = 0x10

	// inlineBytes is what may be copied without telling the scheduler: some microseconds.
	inlineBytes = 64 << 10
)

// vectors describes the buffers to the kernel, in few if that is enough. Empty ones are
// left out.
func vectors(few []syscall.Iovec, bufs [][]byte) []syscall.Iovec {
	v := few[:0]
	for _, b := range bufs {
		if len(b) == 0 {
			continue
		}
		if len(v) == maxVectors {
			break
		}
		e := syscall.Iovec{Base: &b[0]}
		e.SetLen(len(b))
		v = append(v, e)
	}
	return v
}

// halves are the two words of an offset. A kernel of 64 bits looks at the first only.
func halves(off int64) (low, high uintptr) { return uintptr(off), uintptr(uint64(off) >> 32) }

// transferv makes the system call atPosition if off is -1, else at; flags for the latter,
// if it takes any.
func transferv(at, atPosition uintptr, fd uintptr, bufs [][]byte, off int64, flags uintptr) (int, error) {
	var few [fewVectors]syscall.Iovec
	v := vectors(few[:], bufs)
	first := unsafe.Pointer(unsafe.SliceData(v))
	var n uintptr
	var e syscall.Errno
	if off == -1 {
		n, _, e = syscall.Syscall(atPosition, fd, uintptr(first), uintptr(len(v)))
	} else {
		low, high := halves(off)
		n, _, e = syscall.Syscall6(at, fd, uintptr(first), uintptr(len(v)), low, high, flags)
	}
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func preadv(fd uintptr, bufs [][]byte, off int64) (int, error) {
	return transferv(syscall.SYS_PREADV, syscall.SYS_READV, fd, bufs, off, 0)
}

func pwritev(fd uintptr, bufs [][]byte, off int64) (int, error) {
	return transferv(syscall.SYS_PWRITEV, syscall.SYS_WRITEV, fd, bufs, off, 0)
}

// appendTo falls back to a plain write where that does the same: where there are no
// offsets, and where the file itself was opened so.
func appendTo(fd uintptr, bufs [][]byte) (int, error) {
	n, err := transferv(sysPwritev2, 0, fd, bufs, 0, rwfAppend)
	switch {
	case errors.Is(err, syscall.ESPIPE):
	case isAny(err, syscall.ENOSYS, syscall.EOPNOTSUPP):
		flags, err := fileFlags(fd)
		if err != nil {
			return 0, err
		}
		if flags&syscall.O_APPEND == 0 {
			return 0, errors.ErrUnsupported
		}
	default:
		return n, err
	}
	return pwritev(fd, bufs, -1)
}

func isAny(err error, these ...syscall.Errno) bool {
	for _, e := range these {
		if err == e { //nolint:errorlint // bare, and several numbers count as unsupported
			return true
		}
	}
	return false
}

func tryPread(fd uintptr, p []byte, off int64) (int, error) {
	v := syscall.Iovec{Base: unsafe.SliceData(p)}
	v.SetLen(len(p))
	low, high := halves(off)
	var n uintptr
	var e syscall.Errno
	if len(p) <= inlineBytes {
		n, _, e = syscall.RawSyscall6(sysPreadv2, fd, uintptr(unsafe.Pointer(&v)), 1, low, high, rwfNoWait)
	} else {
		n, _, e = syscall.Syscall6(sysPreadv2, fd, uintptr(unsafe.Pointer(&v)), 1, low, high, rwfNoWait)
	}
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func copyFileRange(from uintptr, off int64, to uintptr, off2 int64, n int) (int, error) {
	got, _, e := syscall.Syscall6(sysCopyFileRange, from, uintptr(unsafe.Pointer(&off)),
		to, uintptr(unsafe.Pointer(&off2)), uintptr(n), 0)
	if e != 0 {
		return 0, e
	}
	return int(got), nil
}
