package rawio

import (
	"io/fs"

	"github.com/iolane/iolane/internal/interrupt"
)

// TryDirect is Direct where that can be had. It is asked for when the file is open: an open
// that is refused may have made the file all the same.
const TryDirect = Direct | 1<<28

// Open opens a file; flags are those of the system (syscall.O_RDONLY and so on),
// perm counts if a file is made. The descriptor is in blocking mode unless flags say
// otherwise, and is not inherited by child processes. It blocks, for example, on a FIFO
// without a peer. With [Direct] among the flags it is errors.ErrUnsupported where there is
// no direct I/O; with [TryDirect] the file is open without, if the system or the file system
// refuses it.
func Open(c *interrupt.Call, path string, flags int, perm fs.FileMode) (fd uintptr, err error) {
	return Do(c, func() (uintptr, error) { return openAny(path, flags, perm) })
}

// openAny sees to what is no flag of the system's open.
func openAny(path string, flags int, perm fs.FileMode) (uintptr, error) {
	try := flags&TryDirect == TryDirect
	if flags&Direct == 0 || nativeDirect && !try {
		return open(path, flags, perm)
	}
	fd, err := open(path, flags&^TryDirect, perm)
	if err != nil {
		return 0, err
	}
	if err := direct(fd); err != nil && !try {
		_ = closeFD(fd)
		return 0, err
	}
	return fd, nil
}

// Close closes the descriptor. It is made once and cannot be interrupted: on Linux
// the descriptor is free again even when close says EINTR, and may belong to
// somebody else a moment later. EINTR is returned as it is and means: closed, but
// the file system has not said whether all data has arrived.
func Close(fd uintptr) error { return closeFD(fd) }

// Read reads up to len(p) bytes. 0 and nil is the end of the file, or an empty p.
func Read(c *interrupt.Call, fd uintptr, p []byte) (n int, err error) {
	return Do(c, func() (int, error) { return count(read(fd, p)) })
}

// Write writes up to len(p) bytes. Like the system call it may write fewer without
// an error, for one because of an interrupt; the rest is up to the caller, who looks
// at [interrupt.Call.Asked], or is told by the next Write.
func Write(c *interrupt.Call, fd uintptr, p []byte) (n int, err error) {
	return Do(c, func() (int, error) { return count(write(fd, p)) })
}

// Pread is Read at an offset, in bytes. It leaves the file's own offset alone, but on
// Windows.
func Pread(c *interrupt.Call, fd uintptr, p []byte, off int64) (n int, err error) {
	return Do(c, func() (int, error) { return count(pread(fd, p, off)) })
}

// Pwrite is Write at an offset, in bytes. It leaves the file's own offset alone, but
// on Windows.
func Pwrite(c *interrupt.Call, fd uintptr, p []byte, off int64) (n int, err error) {
	return Do(c, func() (int, error) { return count(pwrite(fd, p, off)) })
}

// Fsync makes the data and the description of the file durable. If it is interrupted
// nothing is known about that.
func Fsync(c *interrupt.Call, fd uintptr) error {
	return do(c, func() error { return fsync(fd) })
}

// Fdatasync makes the data durable, and of the description what is needed to find it.
// Where a system has no such call it is Fsync.
func Fdatasync(c *interrupt.Call, fd uintptr) error {
	return do(c, func() error { return fdatasync(fd) })
}

// Flock takes, converts or gives up a lock on the whole file; how is syscall.LOCK_SH
// and so on. An interrupted conversion may have lost the lock that was held. Windows has no Flock.
func Flock(c *interrupt.Call, fd uintptr, how int) error {
	return do(c, func() error { return flock(fd, how) })
}
