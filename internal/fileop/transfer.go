package fileop

import (
	"context"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// transfer does a Read or Write, piece by piece if it is Full.
func (op *Op) transfer(ctx context.Context, c *interrupt.Call) {
	var b *Bounce
	for ended := false; !ended; {
		if op.N > 0 && ctx.Err() != nil {
			op.Took(0, ErrCancelled)
			return
		}
		if !op.File.Direct || op.aligned() {
			n, err := op.move(c)
			ended = op.Took(n, bare(err))
			continue
		}
		if b == nil {
			var err error
			if b, err = op.Bounce(); err != nil {
				op.Took(0, err)
				return
			}
		} else if err := b.next(); err != nil {
			op.Took(0, err)
			return
		}
		n, err := b.Op.move(c)
		ended = b.Took(n, bare(err))
	}
}

// move makes one system call.
func (op *Op) move(c *interrupt.Call) (int, error) {
	if op.Vectored() {
		return op.moveVectors(c)
	}
	fd, p, off := op.File.FD, op.Rest(), op.Offset()
	switch {
	case op.Kind == Read && off == AtPosition:
		return rawio.Read(c, fd, p)
	case op.Kind == Read:
		return rawio.Pread(c, fd, p, off)
	case op.Append:
		one := [1][]byte{p}
		return rawio.Append(c, fd, one[:])
	case off == AtPosition:
		return rawio.Write(c, fd, p)
	default:
		return rawio.Pwrite(c, fd, p, off)
	}
}

func (op *Op) moveVectors(c *interrupt.Call) (int, error) {
	fd, bufs, off := op.File.FD, op.Vectors(), op.Offset()
	switch {
	case op.Kind == Read:
		return rawio.Preadv(c, fd, bufs, off)
	case op.Append:
		return rawio.Append(c, fd, bufs)
	default:
		return rawio.Pwritev(c, fd, bufs, off)
	}
}
