package file

import "github.com/iolane/iolane/internal/fileop"

// LockMode is how a lock is taken.
type LockMode int32

// The modes. NoWait is for one of the others: Exclusive|NoWait fails where it would have
// to wait, with an error that matches syscall.EWOULDBLOCK.
const (
	Shared    = LockMode(fileop.LockShared)
	Exclusive = LockMode(fileop.LockExclusive)
	NoWait    = LockMode(fileop.LockNoWait)
)

// Lock takes a lock on the whole file, or converts the one that is held, as flock(2). It
// belongs to this opening of the file, and ends with [Unlock] or Close. A conversion that is
// called off may have lost the lock that was held. Who waits for one
// holds a slot of the lane meanwhile, so on a lane without Interrupt who unlocks must not
// need the last one.
func Lock(f *File, mode LockMode) Op {
	return Op{Kind: fileop.Flock, File: f.op(), Flags: int32(mode)}
}

// Unlock gives up what Lock took.
func Unlock(f *File) Op {
	return Op{Kind: fileop.Flock, File: f.op(), Flags: fileop.Unlock}
}

// LockRange is [Lock] for the n bytes from off (0: to the end, wherever that is), by a
// lock of Linux that belongs to this opening of the file (F_OFD_SETLK) and not to the
// process. Exclusive needs a file that is open for writing, Shared one for reading.
func LockRange(f *File, mode LockMode, off, n int64) Op {
	return Op{Kind: fileop.RangeLock, File: f.op(), Flags: int32(mode), Off: offset(off), Len: n}
}

// UnlockRange gives up what LockRange took, or a part of it.
func UnlockRange(f *File, off, n int64) Op {
	return Op{Kind: fileop.RangeLock, File: f.op(), Flags: fileop.Unlock, Off: offset(off), Len: n}
}
