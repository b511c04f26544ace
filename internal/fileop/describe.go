package fileop

import (
	"io/fs"

	"github.com/iolane/iolane/internal/rawio"
)

// Describe finds out what the engines have to know of a file that was opened: Seeks, Appends, WriteOnly,
// ReadOnly, Direct, DirectMem, DirectOff, and Without. The error is bare.
//
// Where the system does not say what direct I/O has to be aligned to (Linux before 6.1,
// many file systems), it is the logical block of a block device, and else 4096 bytes, for
// memory and offsets alike: more than most need, and enough for all. On darwin direct I/O
// needs no alignment, and Direct stays false.
func Describe(f *File) error {
	info, err := rawio.Fstat(nil, f.FD)
	if err != nil {
		return err
	}
	block := info.Mode&fs.ModeDevice != 0 && info.Mode&fs.ModeCharDevice == 0
	f.Seeks = info.Mode.IsRegular() || block
	f.Appends = f.Appends || rawio.Appends(f.FD)
	reads, writes := rawio.Access(f.FD)
	f.WriteOnly, f.ReadOnly = f.WriteOnly || !reads, f.ReadOnly || !writes
	f.Direct, f.DirectMem, f.DirectOff = false, 0, 0
	if !f.Seeks { // of a pipe the flag Direct means something else
		if rawio.NonBlocking(f.FD) { // a ring waits all the same
			f.Without.Store(1<<Read | 1<<Write)
		}
		return nil
	}
	if f.Direct, err = rawio.DirectIO(f.FD); err != nil || !f.Direct {
		return err
	}
	f.DirectMem, f.DirectOff = info.DirectMem, info.DirectOff
	if f.DirectMem <= 0 || f.DirectOff <= 0 {
		f.DirectMem, f.DirectOff = safeAlign, safeAlign
		if size := rawio.SectorSize(f.FD); block && size > 0 {
			f.DirectOff = size
			f.DirectMem = max(size, safeAlign)
		}
	}
	return nil
}
