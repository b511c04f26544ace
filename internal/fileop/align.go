package fileop

import (
	"cmp"
	"fmt"
	"syscall"
	"unsafe"
)

// safeAlign is what direct I/O is aligned to where the system does not say what it needs:
// no logical block of a device is larger, but for few that say so, and memory never needs
// more than offsets.
const safeAlign = 4096

// AlignmentError refuses a direct transfer that is not aligned, before any system call.
// Direct writes are refused; direct reads only at the file's own position, since others go
// through a [Bounce].
type AlignmentError struct {
	File  string // its name
	What  string // "offset", "length" or "memory"
	Value uint64 // what it is, in bytes; of memory the address
	Need  int    // what it should be a multiple of
}

// Error names the file, what is not aligned, and what it should be.
func (e *AlignmentError) Error() string {
	value := fmt.Sprint(e.Value)
	if e.What == "memory" {
		value = fmt.Sprintf("%#x", e.Value)
	}
	return fmt.Sprintf("direct I/O: %s: %s %s is not a multiple of %d", e.File, e.What, value, e.Need)
}

// memAlign and offAlign are what direct I/O of the file is aligned to.
func (f *File) memAlign() int { return cmp.Or(f.DirectMem, safeAlign) }
func (f *File) offAlign() int { return cmp.Or(f.DirectOff, safeAlign) }

// Aligned reports whether the system takes a transfer of buf at off as it is: always, if
// the file is not direct. Of AtPosition nothing is known, so buf
// decides; what else is negative is for the system to refuse.
func (f *File) Aligned(buf []byte, off int64) bool {
	return !f.Direct || f.alignedAt(off) && f.alignedBuf(buf)
}

func (f *File) alignedAt(off int64) bool {
	return off < 0 || off%int64(f.offAlign()) == 0
}

func (f *File) alignedBuf(buf []byte) bool {
	return len(buf) == 0 || len(buf)%f.offAlign() == 0 && address(buf)%uintptr(f.memAlign()) == 0
}

func address(buf []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(buf))) }

// aligned is Aligned for what is left of the transfer. An empty one is for the system to judge.
func (op *Op) aligned() bool {
	f := op.File
	if !op.Vectored() {
		return f.Aligned(op.Rest(), op.Offset())
	}
	for _, b := range op.Vectors() {
		if !f.alignedBuf(b) {
			return false
		}
	}
	return f.alignedAt(op.Offset())
}

// NeedsBounce reports whether the next system call of the transfer has to be made by
// [Op.Bounce]: it is direct and not aligned. To be asked before each: a short transfer can
// end anywhere.
func (op *Op) NeedsBounce() bool {
	return op.File != nil && op.File.Direct && (op.Kind == Read || op.Kind == Write) && !op.aligned()
}

// misaligned is the error of a transfer that is not aligned.
func (op *Op) misaligned() error {
	f := op.File
	if off := op.Offset(); !f.alignedAt(off) {
		return &AlignmentError{f.Name, "offset", uint64(off), f.offAlign()}
	}
	bufs := [][]byte{op.Buf}
	if op.Vectored() {
		bufs = op.Vectors()
	} else {
		bufs[0] = op.Rest()
	}
	for _, b := range bufs {
		switch at := address(b); {
		case f.alignedBuf(b):
		case len(b)%f.offAlign() != 0:
			return &AlignmentError{f.Name, "length", uint64(len(b)), f.offAlign()}
		default:
			return &AlignmentError{f.Name, "memory", uint64(at), f.memAlign()}
		}
	}
	return syscall.EINVAL // it is aligned
}
