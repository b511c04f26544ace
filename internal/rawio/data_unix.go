//go:build linux || darwin || freebsd

package rawio

import (
	"errors"
	"io"
	"runtime"
	"syscall"
)

// whences are those of lseek(2) that find data and holes.
func whences() (data, hole int) {
	if runtime.GOOS == "darwin" {
		return 4, 3
	}
	return 3, 4
}

func nextData(fd uintptr, off int64) (start, end int64, err error) {
	data, hole := whences()
	start, err = syscall.Seek(int(fd), off, data)
	if err == nil {
		end, err = syscall.Seek(int(fd), start, hole)
	}
	switch {
	case errors.Is(err, syscall.ENXIO): // a hole up to the end, or behind it
		return off, off, nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, errors.ErrUnsupported):
		start, end, err = rest(fd, off)
		if size, serr := syscall.Seek(int(fd), 0, io.SeekEnd); serr == nil && end == off {
			end = max(size, off) // of a device the description says no size
		}
	case end < start: // a device without positions
		start, end = off, off
	}
	return start, end, err
}
