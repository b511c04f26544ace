//go:build !linux

package rawio

import (
	"errors"
)

func preadv(fd uintptr, bufs [][]byte, off int64) (int, error) {
	if off == -1 {
		return read(fd, first(bufs))
	}
	return each(bufs, off, func(p []byte, at int64) (int, error) { return pread(fd, p, at) })
}

func pwritev(fd uintptr, bufs [][]byte, off int64) (int, error) {
	if off == -1 {
		return write(fd, first(bufs))
	}
	return each(bufs, off, func(p []byte, at int64) (int, error) { return pwrite(fd, p, at) })
}

func appendTo(fd uintptr, bufs [][]byte) (int, error) { return appendOne(fd, first(bufs)) }

// first is the first buffer that is not empty.
func first(bufs [][]byte) []byte {
	for _, b := range bufs {
		if len(b) > 0 {
			return b
		}
	}
	return nil
}

// each transfers one buffer after another, as far as it goes. An error after some bytes is
// left to the next transfer, which meets it again.
func each(bufs [][]byte, off int64, transfer func([]byte, int64) (int, error)) (int, error) {
	sum := 0
	for _, b := range bufs {
		if len(b) == 0 {
			continue
		}
		n, err := transfer(b, off+int64(sum))
		if err != nil && sum == 0 {
			return 0, err
		}
		sum += max(n, 0)
		if err != nil || n < len(b) {
			break
		}
	}
	return sum, nil
}

func tryPread(uintptr, []byte, int64) (int, error) { return 0, errors.ErrUnsupported }

func copyFileRange(uintptr, int64, uintptr, int64, int) (int, error) {
	return 0, errors.ErrUnsupported
}

func lockRange(uintptr, int, int64, int64) error { return errors.ErrUnsupported }

func advise(uintptr, int64, int64, int) error { return nil }
