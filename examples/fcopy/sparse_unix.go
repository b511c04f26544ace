//go:build linux || darwin || freebsd

package main

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dataOf is where a file has data up to size; it must be the one with that inode.
func dataOf(f *os.File, inode uint64, size int64) (parts []extent, err error) {
	var st unix.Stat_t
	fd := int(f.Fd())
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	if uint64(st.Ino) != inode { //nolint:unconvert // it has another type elsewhere
		return nil, &changedError{f.Name()}
	}
	for end := int64(0); end < size; {
		off, err := unix.Seek(fd, end, unix.SEEK_DATA)
		if errors.Is(err, syscall.ENXIO) { // a hole up to the end
			break
		}
		if err == nil {
			end, err = unix.Seek(fd, off, unix.SEEK_HOLE)
		}
		if err != nil { // the file system cannot tell
			return whole(size), nil //nolint:nilerr // and so all counts as data
		}
		parts = append(parts, extent{off, min(end, size)})
	}
	return parts, nil
}
