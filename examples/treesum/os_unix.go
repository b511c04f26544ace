//go:build unix

package main

import (
	"errors"
	"io"
	"syscall"
)

// Flags of open.
const (
	// openRegular keeps open from waiting for the other end of a FIFO; it changes
	// nothing for regular files.
	openRegular = syscall.O_NONBLOCK
	// openNoFollow refuses a path that has become a symbolic link.
	openNoFollow = syscall.O_NOFOLLOW
	// openDir refuses what is no directory.
	openDir = syscall.O_NONBLOCK | syscall.O_DIRECTORY
)

// nobodyReads reports whether a write failed because the reader has gone. On the
// standard output itself the process is rather killed by SIGPIPE, as usual,
// unless that is ignored.
func nobodyReads(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
