package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/iolane/iolane/ioerr"
)

// named is an error of this program: it names its files itself.
type named interface {
	error
	named()
}

func (*sameFileError) named()   {}
func (*insideError) named()     {}
func (*kindError) named()       {}
func (*changedError) named()    {}
func (*differenceError) named() {}

// sameFileError refuses to copy a file onto itself.
type sameFileError struct{ src, dst string }

func (e *sameFileError) Error() string { return e.src + " and " + e.dst + " are the same file" }

// insideError refuses to copy a directory into itself.
type insideError struct{ src, dst string }

func (e *insideError) Error() string { return e.dst + " is inside of " + e.src }

// kindError refuses what is no file that can be copied or replaced.
type kindError struct {
	name string
	mode fs.FileMode
	want string
}

func (e *kindError) Error() string {
	kind := "something else"
	switch {
	case e.mode.IsDir():
		kind = "a directory"
	case e.mode.IsRegular():
		kind = "a file"
	case e.mode&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case e.mode&fs.ModeSocket != 0:
		kind = "a socket"
	case e.mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return fmt.Sprintf("%s is %s, not %s", e.name, kind, e.want)
}

// changedError: a file was not left alone, or is not as long as the system says, as in /proc.
type changedError struct{ name string }

func (e *changedError) Error() string {
	return e.name + " changed while it was copied, or is not as long as the system says"
}

// differenceError is what verifying has found.
type differenceError struct {
	src string
	at  int64 // the offset of the first byte that differs
}

func (e *differenceError) Error() string {
	return fmt.Sprintf("%s and its copy differ, first at offset %d", e.src, e.at)
}

// leftoverError: something went wrong, and the temporary file could not be removed.
type leftoverError struct {
	name string // of the temporary file
	why  error  // it could not be removed
	err  error  // what went wrong before
}

func (e *leftoverError) Error() string {
	return fmt.Sprintf("%s; the temporary file %s is left: %s", reason(e.err), e.name, reason(e.why))
}

func (e *leftoverError) Unwrap() error { return e.err }

// copyError says what could not be copied to where.
type copyError struct {
	src, dst string
	err      error
}

func (e *copyError) Error() string {
	_, ours := errors.AsType[named](e.err)
	path, of := errors.AsType[*fs.PathError](e.err)
	_, renamed := errors.AsType[*os.LinkError](e.err)
	switch {
	case ours:
		return reason(e.err)
	case renamed, of && path.Path != e.src: // of DST, or the temporary file in its place
		return e.dst + ": " + reason(e.err)
	}
	return e.src + ": " + reason(e.err)
}

func (e *copyError) Unwrap() error { return e.err }

// reason is what went wrong, without the path, which the reader knows already.
func reason(err error) string {
	if e, ok := errors.AsType[*leftoverError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return err.Error()
}

// mayBeInUse reports whether an operation was left running, which may use its buffer still.
func mayBeInUse(err error) bool { return errors.Is(err, ioerr.ErrLeft) }
