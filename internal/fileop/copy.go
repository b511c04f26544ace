package fileop

import (
	"context"
	"errors"
	"syscall"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

const (
	// copyPiece is how much a Full CopyRange has the system copy at a time, so that ctx is
	// looked at now and then.
	copyPiece = 64 << 20
	// loopPiece is the same where bytes go through a buffer.
	loopPiece = 256 << 10
	// mostAtOnce is what Linux takes at a time.
	mostAtOnce = 0x7ffff000
)

// copyRange has the system copy, or where it does not, reads and writes. Where source and
// target overlap it is refused with EINVAL either way.
func (op *Op) copyRange(ctx context.Context, c *interrupt.Call) {
	piece := int64(mostAtOnce)
	if op.Full {
		piece = copyPiece
	}
	if op.Left() > piece && op.overlaps() { // which the system sees of a single piece only
		op.Took(0, syscall.EINVAL)
		return
	}
	for op.Left() > 0 {
		if op.N > 0 && ctx.Err() != nil {
			op.Took(0, ErrCancelled)
			return
		}
		n, err := rawio.CopyFileRange(c, op.File.FD, op.Offset(), op.More.File2.FD, op.More.Off2+op.N, int(min(op.Left(), piece)))
		if cannotCopy(err) || n == 0 && err == nil && op.N == 0 {
			op.copyLoop(ctx, c)
			return
		}
		if op.Took(n, bare(err)) {
			return
		}
	}
}

// cannotCopy reports whether the system leaves copying between these files to its callers.
func cannotCopy(err error) bool {
	return err != nil && (errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, errors.ErrUnsupported)) // ENOSYS and EOPNOTSUPP are that, too
}

// copyLoop reads and writes, until the end.
func (op *Op) copyLoop(ctx context.Context, c *interrupt.Call) {
	from, to := op.File, op.More.File2
	if op.Off < 0 || op.More.Off2 < 0 || op.overlaps() {
		op.Took(0, syscall.EINVAL)
		return
	}
	room := alignedBuffer(int(min(op.Left(), loopPiece)), max(from.memAlign(), to.memAlign()))
	for {
		read := Op{Kind: Read, File: from, Buf: room[:min(op.Left(), loopPiece)], Off: op.Offset()}
		read.transfer(ctx, c)
		n, err := int(read.N), read.Err
		if n > 0 {
			write := Op{Kind: Write, Full: true, File: to, Buf: room[:n], Off: op.More.Off2 + op.N}
			write.transfer(ctx, c)
			n, err = int(write.N), write.Err
		}
		ended := n > 0 && op.Took(n, nil)
		if !ended && (err != nil || n == 0) {
			ended = op.Took(0, err) // a plain one that was short meets the error the next time
		}
		if ended {
			return
		}
		if ctx.Err() != nil {
			op.Took(0, ErrCancelled)
			return
		}
	}
}

// overlaps reports whether bytes that were copied would be read again.
func (op *Op) overlaps() bool {
	a, b := op.Off, op.More.Off2
	return max(a, b)-min(a, b) < op.Len && rawio.SameFile(op.File.FD, op.More.File2.FD)
}
