package main

import (
	"errors"
	"io"
	"syscall"
)

// Flags of open: there is no FIFO to wait for, and the type of a file was looked
// at when its directory was read.
const (
	openRegular  = 0
	openNoFollow = 0
	openDir      = 0
)

// errNoData is ERROR_NO_DATA: the pipe is being closed.
const errNoData = syscall.Errno(232)

// nobodyReads reports whether a write failed because the reader has gone.
func nobodyReads(err error) bool {
	return errors.Is(err, errNoData) || errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, io.ErrClosedPipe)
}
