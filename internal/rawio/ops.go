package rawio

import (
	"io/fs"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
)

// The values of how for [Flock] and [LockRange], the same on all systems that have
// flock.
const (
	LockShared    = 1
	LockExclusive = 2
	LockNoWait    = 4 // in addition: fail with EWOULDBLOCK or EAGAIN, do not wait
	Unlock        = 8
)

// Info is what a system tells about a file.
type Info struct {
	Size    int64
	Mode    fs.FileMode
	ModTime time.Time
	Device  uint64 // of the file system; on Windows the serial number of the volume
	Inode   uint64
	Links   uint64
	Blocks  int64 // of 512 bytes, that the file takes up; 0 on Windows
	// What direct I/O needs: alignment of memory and of offsets and lengths, in bytes. Zero:
	// the system does not say, or the file cannot be read directly.
	DirectMem, DirectOff int
}

// Preadv is [Pread] into several buffers, one after another, or at the file's own
// position if off is -1. One system call where there is such a one (Linux), up to 1024
// buffers; elsewhere one for each buffer, and at the file's own position the first buffer
// only, since the next read could block.
func Preadv(c *interrupt.Call, fd uintptr, bufs [][]byte, off int64) (n int, err error) {
	return Do(c, func() (int, error) { return count(preadv(fd, bufs, off)) })
}

// Pwritev is [Pwrite] of several buffers, in the manner of [Preadv].
func Pwritev(c *interrupt.Call, fd uintptr, bufs [][]byte, off int64) (n int, err error) {
	return Do(c, func() (int, error) { return count(pwritev(fd, bufs, off)) })
}

// Append writes at the end of the file, in one step of the system. On Linux and Windows
// any file will do; elsewhere, and on Linux before 4.16, it must be open with O_APPEND.
// On what has no offsets it is a plain write.
func Append(c *interrupt.Call, fd uintptr, bufs [][]byte) (n int, err error) {
	return Do(c, func() (int, error) { return count(appendTo(fd, bufs)) })
}

// CopyFileRange copies up to n bytes from one file to another inside the system. Only Linux
// can; errors.ErrUnsupported elsewhere. 0 and nil is the end of the file, or a file whose
// size the system does not know (in /proc).
func CopyFileRange(c *interrupt.Call, from uintptr, off int64, to uintptr, off2 int64, n int) (int, error) {
	return Do(c, func() (int, error) { return count(copyFileRange(from, off, to, off2, n)) })
}

// Truncate makes the file size bytes long.
func Truncate(c *interrupt.Call, fd uintptr, size int64) error {
	return do(c, func() error { return truncate(fd, size) })
}

// Fallocate reserves room for a part of the file, or what mode says (FALLOC_FL_*, Linux
// only). On darwin it reserves what lies behind the end and moves that; holes stay holes.
// Elsewhere it is errors.ErrUnsupported.
func Fallocate(c *interrupt.Call, fd uintptr, mode uint32, off, size int64) error {
	return do(c, func() error { return fallocate(fd, mode, off, size) })
}

// Advise tells the system how a part of the file will be used (POSIX_FADV_*, with the
// numbers of Linux). It is a hint: where a system takes none, nothing is done.
func Advise(c *interrupt.Call, fd uintptr, off, size int64, advice int) error {
	return do(c, func() error { return advise(fd, off, size, advice) })
}

// LockRange is [Flock] for a part of the file; size 0 is all from off on. The lock belongs
// to the open file and not to the process. Linux only; else errors.ErrUnsupported.
func LockRange(c *interrupt.Call, fd uintptr, how int, off, size int64) error {
	return do(c, func() error { return lockRange(fd, how, off, size) })
}

// Fstat tells about an open file.
func Fstat(c *interrupt.Call, fd uintptr) (Info, error) {
	return Do(c, func() (Info, error) { return fstat(fd) })
}

// Stat tells about the file at a path; with noFollow about a symbolic link itself.
func Stat(c *interrupt.Call, path string, noFollow bool) (Info, error) {
	return Do(c, func() (Info, error) { return stat(path, noFollow) })
}

// Chmod gives an open file the permissions perm. On Windows that is whether it can be
// written.
func Chmod(c *interrupt.Call, fd uintptr, perm fs.FileMode) error {
	return do(c, func() error { return chmod(fd, perm) })
}

// SetTimes sets when an open file was last accessed and modified; the zero time leaves one as
// it is. In nanoseconds on Linux, in microseconds on other systems, in 100 ns on Windows.
func SetTimes(c *interrupt.Call, fd uintptr, accessed, modified time.Time) error {
	return do(c, func() error { return setTimes(fd, accessed, modified) })
}

// NextData tells where an open file has data next, at off or behind it, and where that ends;
// with end at start there is none. Where the system or the file system cannot tell, the rest
// of the file is data. It moves the file's own position.
func NextData(c *interrupt.Call, fd uintptr, off int64) (start, end int64, err error) {
	part, err := Do(c, func() ([2]int64, error) {
		start, end, err := nextData(fd, off)
		return [2]int64{start, end}, err
	})
	return part[0], part[1], err
}

// rest is the rest of a file from off on, as nextData.
func rest(fd uintptr, off int64) (start, end int64, err error) {
	info, err := fstat(fd)
	return off, max(info.Size, off), err
}

// Rename gives a file another name, which another file may have had.
func Rename(c *interrupt.Call, from, to string) error {
	return do(c, func() error { return rename(from, to) })
}

// Unlink removes a name of a file that is no directory.
func Unlink(c *interrupt.Call, path string) error {
	return do(c, func() error { return unlink(path) })
}

// Rmdir removes an empty directory.
func Rmdir(c *interrupt.Call, path string) error {
	return do(c, func() error { return rmdir(path) })
}

// Mkdir makes a directory.
func Mkdir(c *interrupt.Call, path string, perm fs.FileMode) error {
	return do(c, func() error { return mkdir(path, perm) })
}

// TryPread is Pread of what is in the page cache. It neither waits for a device nor, for
// up to 64 KiB, tells the scheduler, so it must not be used on a file that is open for
// direct I/O: there it would wait nevertheless. EAGAIN: nothing of it is there.
// EOPNOTSUPP, EINVAL, ENOSYS: the file, or the system, cannot tell. Only Linux can.
func TryPread(fd uintptr, p []byte, off int64) (n int, err error) { return tryPread(fd, p, off) }

// DirectIO reports whether the open file is in direct mode. Only Linux tells.
func DirectIO(fd uintptr) (bool, error) { return directIO(fd) }

// NonBlocking reports whether system calls on the open file return EAGAIN where they would
// block. Only Linux tells.
func NonBlocking(fd uintptr) bool { return nonBlocking(fd) }

// Appends reports whether an open file was opened with os.O_APPEND; false where the system
// does not say.
func Appends(fd uintptr) bool { return appends(fd) }

// Access reports for what a file was opened: true where the system does not say.
func Access(fd uintptr) (reads, writes bool) { return access(fd) }

// SectorSize is the size of a logical block of an open block device; 0: not known.
func SectorSize(fd uintptr) int { return sectorSize(fd) }

// SameFile reports whether two descriptors are of the same file; false if the system does
// not say.
func SameFile(a, b uintptr) bool { return a == b || sameFile(a, b) }
