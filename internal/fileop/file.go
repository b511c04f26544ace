package fileop

import (
	"sync/atomic"

	"github.com/iolane/iolane/handle"
)

// File is an open file as the engines see it.
type File struct {
	ID      handle.ID // in the pool that owns it
	Name    string    // as it was opened
	FD      uintptr   // of the system
	Seeks   bool      // it has offsets: a regular file or a block device
	Appends bool      // what is written goes to the end, whatever the offset
	Direct  bool      // opened with O_DIRECT

	WriteOnly, ReadOnly bool // as it was opened; false where nobody knows

	// DirectMem and DirectOff are what direct I/O has to be aligned to, in bytes; 0: nothing
	// is known, or the file is not direct.
	DirectMem, DirectOff int

	// Without is the set of kinds that are not for a ring of the kernel: it has refused them
	// for this file, or would do something else.
	Without atomic.Uint32
	// Warm is what a lane knows of the page cache: how often reads found their data there.
	Warm atomic.Int32
}
