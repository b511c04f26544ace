package fileop

import (
	"errors"
	"io/fs"
	"time"

	"github.com/iolane/iolane/internal/rawio"
)

// Kind is a kind of operation.
type Kind uint8

// The operations. In brackets: the fields of [Op] that count, beside Kind; those in
// small letters are of [More].
const (
	Nop       Kind = iota // nothing
	Open                  // path [Flags, Mode]; N is the descriptor
	Close                 // [File]
	Read                  // [File, Buf or bufs, Off, Full]; N is the number of bytes; fewer than asked for with Full is the end of the file
	Write                 // the same; with Append Off does not count
	Fsync                 // [File]
	Fdatasync             // [File]
	Fallocate             // [File, Flags, Off, Len]
	Truncate              // [File, Len]
	Stat                  // [File or path, Flags: NoFollow] into info
	Rename                // path to path2
	Unlink                // path
	Rmdir                 // path
	Mkdir                 // path [Mode]
	Advise                // [File, Flags, Off, Len]
	Flock                 // [File, Flags]: LOCK_SH, LOCK_EX, LOCK_UN, with LOCK_NB or without
	RangeLock             // [File, Flags, Off, Len]: the same, of a range, by open file description
	CopyRange             // from [File, Off, Len] to file2, off2; N is the number of bytes
	Sleep                 // for Off nanoseconds
	Data                  // [File, Off]; N is where data begins, at Off or behind it, off2 where it ends: the same if there is none
	Chmod                 // [File, Mode]
	Times                 // [File] accessed, modified; zero: as it is

	Kinds // how many there are
)

// String names the kind.
func (k Kind) String() string {
	if k < Kinds {
		return names[k]
	}
	return "unknown"
}

//nolint:gochecknoglobals // a table
var names = [Kinds]string{
	"nop", "open", "close", "read", "write", "fsync", "fdatasync", "fallocate", "truncate", "stat",
	"rename", "unlink", "rmdir", "mkdir", "advise", "flock", "rangelock", "copyrange", "sleep", "data", "chmod", "times",
}

// Flags of operations that package syscall does not have on every system.
const (
	// Direct, of Open: past the page cache. O_DIRECT on Linux, F_NOCACHE on darwin; elsewhere
	// Open fails with errors.ErrUnsupported.
	Direct = rawio.Direct
	// TryDirect, of Open: Direct, if that can be had.
	TryDirect = rawio.TryDirect
	// NoFollow, of Stat: of a symbolic link, not of what it leads to.
	NoFollow = 1

	// Of Flock and RangeLock: LOCK_SH and so on of the systems that have flock.
	LockShared    = rawio.LockShared
	LockExclusive = rawio.LockExclusive
	LockNoWait    = rawio.LockNoWait
	Unlock        = rawio.Unlock
)

// AtPosition as Off of Read and Write means the file's own position: for pipes, terminals
// and what else has no offsets.
const AtPosition = -1

// ErrCancelled: the operation was called off before it had an effect.
var ErrCancelled = errors.New("operation cancelled")

// Op is one operation. Its zero value is a Nop.
type Op struct {
	Kind          Kind
	Full          bool // Read, Write, CopyRange: go on after a short transfer
	Append        bool // Write: at the end of the file
	Interruptible bool // where a system call blocks, a signal ends it when the context ends
	Flags         int32
	Mode          fs.FileMode
	File          *File
	Buf           []byte
	Off           int64
	Len           int64
	More          *More // nil where nothing of it is needed

	N   int64 // bytes moved so far; or what Kind says
	Err error // bare: an error number of the system, ErrCancelled, …; not the end of a file
}

// More is what few operations need.
type More struct {
	Path, Path2 string
	Bufs        [][]byte // of a vectored transfer: then Buf does not count
	File2       *File
	Off2        int64
	Info        Info

	Accessed, Modified time.Time
}

// Info is what Stat found out.
type Info = rawio.Info

// Size is how many bytes a transfer moves at most.
func (op *Op) Size() int64 {
	switch {
	case op.Kind == CopyRange:
		return op.Len
	case op.More == nil || op.More.Bufs == nil:
		return int64(len(op.Buf))
	}
	n := int64(0)
	for _, b := range op.More.Bufs {
		n += int64(len(b))
	}
	return n
}

// Sleeping is how long a Sleep lasts.
func (op *Op) Sleeping() time.Duration { return time.Duration(op.Off) }

// lacks reports whether the operation has no File, or no More, that it needs.
func (op *Op) lacks() bool {
	switch op.Kind {
	case Nop, Sleep, Kinds:
		return false
	case Open, Stat, Rename, Unlink, Rmdir, Mkdir:
		return op.More == nil
	case CopyRange:
		return op.File == nil || op.More == nil || op.More.File2 == nil
	case Data, Times:
		return op.File == nil || op.More == nil
	case Close, Read, Write, Fsync, Fdatasync, Fallocate, Truncate, Advise, Flock, RangeLock, Chmod:
		return op.File == nil
	}
	return false // there is no such kind
}
