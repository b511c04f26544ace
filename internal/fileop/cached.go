package fileop

import (
	"errors"
	"math"
	"syscall"

	"github.com/iolane/iolane/internal/rawio"
)

// TryCached does a Read of one buffer out of the page cache, without waiting for a device,
// and reports whether the operation has ended by that. If not, it is to be given to an
// engine: a plain Read is then as it was, but for the bytes of its buffer, and of a Full
// one N may have grown. It allocates nothing, and up to 64 KiB the scheduler is not told,
// so that a hit costs a system call and a copy.
//
// It is worth asking always: of files that are direct or have no offsets, of reads past the
// last offset there is (for which the system has the answer of one that cannot tell), where the system
// or the file system cannot tell, and mostly of those whose reads have missed of late it
// makes no system call.
func (op *Op) TryCached() (done bool) {
	f := op.File
	if op.Kind != Read || f.Direct || !f.Seeks || op.Off < 0 || op.Off > math.MaxInt64-int64(len(op.Buf)) || op.Vectored() ||
		op.Left() == 0 || !f.tries() {
		return false
	}
	p, off, got := op.Rest(), op.Offset(), 0
	for got < len(p) {
		n, err := rawio.TryPread(f.FD, p[got:], off+int64(got))
		if err != nil {
			f.missed(err)
			if op.Full && got > 0 {
				op.Took(got, nil)
			}
			return false
		}
		if n == 0 {
			break // the end of the file; if more is there it would be EAGAIN
		}
		got += n
	}
	f.hit()
	return op.Took(got, nil) || op.Took(0, nil) // a Full one hears of the end of the file
}

// missed notes that the kernel has not given what was asked for. Errors of the file are
// left to the engine, which will meet them again.
func (f *File) missed(err error) {
	switch {
	case errors.Is(err, syscall.EAGAIN):
		f.miss()
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL):
		f.Warm.Store(unavailable)
	}
}
