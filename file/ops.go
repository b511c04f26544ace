package file

import (
	"io/fs"
	"time"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/lane"
)

// Op is an operation as a value: what is to be done, and, after [Pool.Do], what came of it.
// The functions here that return one are the way to make it. An Op must not be used by two
// at the same time. These fields are for its user:
//
//	Buf []byte // of a transfer; may be changed between two uses
//	Off int64  // likewise
//	N   int64  // the number of bytes that were moved
//	Err error  // after DoAll: as Do returns it
type Op = lane.Op

// Info is what [Stat] found out. It is in Op.More.Info. Its fields are
//
//	Size    int64
//	Mode    fs.FileMode
//	ModTime time.Time
//	Device  uint64 // of the file system, as SameFile wants it
//	Inode   uint64
//	Links   uint64
//	Blocks  int64 // of 512 bytes, that the file takes up; 0 on Windows
type Info = fileop.Info

// SameFile reports whether two descriptions, both found out by Stat, are of the same file.
// Like all that goes by number it is true of a file that was removed and a new one that
// has got its number, and not to be relied upon where a file system has no lasting numbers.
func SameFile(a, b Info) bool { return a.Device == b.Device && a.Inode == b.Inode }

// ReadAt reads len(buf) bytes from offset off. It goes on after short transfers, so fewer
// bytes (Op.N) mean the end of the file, which is no error of the Op.
func ReadAt(f *File, buf []byte, off int64) Op {
	return Op{Kind: fileop.Read, Full: true, File: f.op(), Buf: buf, Off: offset(off)}
}

// WriteAt writes all of buf at offset off. It goes on after short transfers.
func WriteAt(f *File, buf []byte, off int64) Op {
	return Op{Kind: fileop.Write, Full: true, File: f.op(), Buf: buf, Off: offset(off)}
}

// Append writes all of buf at the end of the file, wherever that is by then. If it takes
// several transfers, what others append may come between.
func Append(f *File, buf []byte) Op {
	return Op{Kind: fileop.Write, Full: true, Append: true, File: f.op(), Buf: buf}
}

// Pread is one transfer of up to len(buf) bytes from offset off, as pread(2): it may read
// fewer. None is the end of the file.
func Pread(f *File, buf []byte, off int64) Op {
	return Op{Kind: fileop.Read, File: f.op(), Buf: buf, Off: offset(off)}
}

// Pwrite is one transfer of up to len(buf) bytes to offset off, as pwrite(2): it may write
// fewer.
func Pwrite(f *File, buf []byte, off int64) Op {
	return Op{Kind: fileop.Write, File: f.op(), Buf: buf, Off: offset(off)}
}

// Read is one transfer of up to len(buf) bytes from the file's own position, as read(2):
// for pipes, terminals, and what else has no offsets.
func Read(f *File, buf []byte) Op {
	return Op{Kind: fileop.Read, File: f.op(), Buf: buf, Off: fileop.AtPosition}
}

// Write writes all of buf at the file's own position. It goes on after short transfers.
func Write(f *File, buf []byte) Op {
	return Op{Kind: fileop.Write, Full: true, File: f.op(), Buf: buf, Off: fileop.AtPosition}
}

// Readv is [ReadAt] into several buffers, one after the other.
func Readv(f *File, bufs [][]byte, off int64) Op {
	return Op{Kind: fileop.Read, Full: true, File: f.op(), Off: offset(off), More: &fileop.More{Bufs: vector(bufs)}}
}

// Writev is [WriteAt] of several buffers, one after the other.
func Writev(f *File, bufs [][]byte, off int64) Op {
	return Op{Kind: fileop.Write, Full: true, File: f.op(), Off: offset(off), More: &fileop.More{Bufs: vector(bufs)}}
}

// Sync makes the file durable, data and description (fsync). If it fails the file is
// poisoned: see the package documentation.
func Sync(f *File) Op { return Op{Kind: fileop.Fsync, File: f.op()} }

// Datasync makes the data durable, and of the description what is needed to find it
// (fdatasync; where there is none, fsync). If it fails the file is poisoned: see the
// package documentation.
func Datasync(f *File) Op { return Op{Kind: fileop.Fdatasync, File: f.op()} }

// Allocate makes sure that the n bytes from off have room on the disk, as fallocate(2).
// mode is 0, which makes the file longer where it is shorter, or flags of the system
// (unix.FALLOC_FL_KEEP_SIZE).
func Allocate(f *File, mode int, off, n int64) Op {
	return Op{Kind: fileop.Fallocate, File: f.op(), Flags: int32(mode), Off: offset(off), Len: n}
}

// Truncate makes the file so many bytes long.
func Truncate(f *File, size int64) Op {
	return Op{Kind: fileop.Truncate, File: f.op(), Len: size}
}

// Stat asks for the description of the file: Op.More.Info.
func Stat(f *File) Op { return Op{Kind: fileop.Stat, File: f.op(), More: &fileop.More{}} }

// StatName is [Stat] by name, which must not be empty; it follows symbolic links.
func StatName(name string) Op {
	return Op{Kind: fileop.Stat, More: &fileop.More{Path: name}}
}

// NextData asks where the file has data next, at off or behind it: from Op.N to
// Op.More.Off2, which are the same if there is none. See [File.NextData].
func NextData(f *File, off int64) Op {
	return Op{Kind: fileop.Data, File: f.op(), Off: offset(off), More: &fileop.More{}}
}

// Chmod gives the file the permissions mode. On Windows that is whether it can be written.
func Chmod(f *File, mode fs.FileMode) Op {
	return Op{Kind: fileop.Chmod, File: f.op(), Mode: mode}
}

// SetTimes sets when the file was last accessed and modified. The zero time leaves one as it
// is; others must be of the years 1678 to 2261. Systems keep it in nanoseconds (Linux), 100 ns
// (Windows) or microseconds.
func SetTimes(f *File, accessed, modified time.Time) Op {
	return Op{Kind: fileop.Times, File: f.op(), More: &fileop.More{Accessed: accessed, Modified: modified}}
}

// Advise tells the kernel how the n bytes from off will be used (0: to the end), as
// posix_fadvise(2): advice is one of its numbers (unix.FADV_SEQUENTIAL).
func Advise(f *File, advice int, off, n int64) Op {
	return Op{Kind: fileop.Advise, File: f.op(), Flags: int32(advice), Off: offset(off), Len: n}
}

// CopyRange copies n bytes from offset off of src to dstOff of dst, in the kernel where
// that can (copy_file_range). Fewer bytes (Op.N) mean the end of src. With dst and src of
// one file the ranges must not overlap. Errors are an *os.LinkError that names both: the system does
// not say on which side it was.
func CopyRange(dst *File, dstOff int64, src *File, off, n int64) Op {
	return Op{Kind: fileop.CopyRange, Full: true, File: src.op(), Off: offset(off), Len: n, More: &fileop.More{File2: dst.op(), Off2: offset(dstOff)}}
}

// Rename renames a file, in place of another one if there is one.
func Rename(from, to string) Op {
	return Op{Kind: fileop.Rename, More: &fileop.More{Path: from, Path2: to}}
}

// Remove removes the name of a file.
func Remove(name string) Op { return Op{Kind: fileop.Unlink, More: &fileop.More{Path: name}} }

// RemoveDir removes an empty directory.
func RemoveDir(name string) Op { return Op{Kind: fileop.Rmdir, More: &fileop.More{Path: name}} }

// Mkdir makes a directory, with perm before umask.
func Mkdir(name string, perm fs.FileMode) Op {
	return Op{Kind: fileop.Mkdir, Mode: perm, More: &fileop.More{Path: name}}
}

// Sleep takes up a slot for d. It is for tests of what slow operations do to a program.
func Sleep(d time.Duration) Op { return Op{Kind: fileop.Sleep, Off: int64(max(d, 0))} }

// Nop does nothing, in a slot.
func Nop() Op { return Op{} }

// vector makes sure that no buffers are not taken for none of a vectored transfer.
func vector(bufs [][]byte) [][]byte {
	if bufs == nil {
		return [][]byte{}
	}
	return bufs
}
