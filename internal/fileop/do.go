package fileop

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/iolane/iolane/internal/interrupt"
	"github.com/iolane/iolane/internal/rawio"
)

// Do does the operation on the calling goroutine, by system calls that block its thread,
// and returns when it has ended: N and Err say how. Both are zero before; but N of a Full
// transfer may be what another engine has moved already. One without a File, or a More, that
// it needs ends in EINVAL.
//
// If ctx has ended before the first system call, or before a further one of a Full
// transfer, none is made, and Err is ErrCancelled. Close is made in any case, since nobody
// else would give the descriptor back. A system call that
// blocks is left to itself, unless the operation is Interruptible and s is a signal: then
// the end of ctx makes it return. What has happened is never called cancelled. Close is
// never interrupted. An interrupted Flock that would have converted a lock may have lost
// the one that was held, and of an interrupted Fsync nothing is known.
func (op *Op) Do(ctx context.Context, s *interrupt.Signal) {
	switch {
	case op.Kind != Close && ctx.Err() != nil:
		op.Took(0, ErrCancelled)
	case op.lacks():
		op.Took(0, syscall.EINVAL)
	case op.Kind == Sleep:
		op.sleep(ctx)
	case op.Interruptible && s != nil && ctx.Done() != nil:
		op.doInterruptible(ctx, s)
	default:
		op.run(ctx, nil)
	}
}

// doInterruptible is a function of its own, so that the others allocate nothing. The call
// serves this operation only, since an interrupt may come late, and then finds it ended.
func (op *Op) doInterruptible(ctx context.Context, s *interrupt.Signal) {
	c := interrupt.NewCall(s)
	defer c.Watch(ctx)()
	op.run(ctx, c)
}

func (op *Op) sleep(ctx context.Context) {
	if ctx.Done() == nil {
		time.Sleep(op.Sleeping())
		return
	}
	timer := time.NewTimer(op.Sleeping())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		op.Took(0, ErrCancelled)
	}
}

// run does the operation in sections of c, or by nobody to be interrupted if that is nil.
func (op *Op) run(ctx context.Context, c *interrupt.Call) {
	switch {
	case op.Kind == CopyRange:
		op.copyRange(ctx, c)
	case op.Transfers():
		op.transfer(ctx, c)
	case op.Kind == Data:
		var err error
		op.N, op.More.Off2, err = rawio.NextData(c, op.File.FD, op.Off)
		op.Err = bare(err)
	default:
		n, err := op.once(c)
		op.Took(n, bare(err))
	}
}

// bare makes ErrCancelled of what an interrupted system call returns.
func bare(err error) error {
	if err != nil && errors.Is(err, interrupt.ErrInterrupted) {
		return ErrCancelled
	}
	return err
}

// once makes the one system call of what is no transfer.
func (op *Op) once(c *interrupt.Call) (n int, err error) {
	switch op.Kind {
	case Open:
		fd, err := rawio.Open(c, op.More.Path, int(op.Flags), op.Mode)
		return int(fd), err
	case Close:
		return 0, rawio.Close(op.File.FD)
	case Fsync:
		return 0, rawio.Fsync(c, op.File.FD)
	case Fdatasync:
		return 0, rawio.Fdatasync(c, op.File.FD)
	case Fallocate:
		return 0, rawio.Fallocate(c, op.File.FD, uint32(op.Flags), op.Off, op.Len)
	case Truncate:
		return 0, rawio.Truncate(c, op.File.FD, op.Len)
	case Advise:
		return 0, rawio.Advise(c, op.File.FD, op.Off, op.Len, int(op.Flags))
	case Flock:
		return 0, rawio.Flock(c, op.File.FD, int(op.Flags))
	case RangeLock:
		return 0, rawio.LockRange(c, op.File.FD, int(op.Flags), op.Off, op.Len)
	case Chmod:
		return 0, rawio.Chmod(c, op.File.FD, op.Mode)
	case Times:
		return 0, rawio.SetTimes(c, op.File.FD, op.More.Accessed, op.More.Modified)
	case Stat:
		return 0, op.stat(c)
	case Rename, Unlink, Rmdir, Mkdir:
		return 0, op.names(c)
	case Nop:
		return 0, nil
	case Read, Write, CopyRange, Sleep, Data, Kinds:
	}
	return 0, syscall.EINVAL
}

func (op *Op) stat(c *interrupt.Call) (err error) {
	if op.File != nil {
		op.More.Info, err = rawio.Fstat(c, op.File.FD)
	} else {
		op.More.Info, err = rawio.Stat(c, op.More.Path, op.Flags&NoFollow != 0)
	}
	return err
}

// names are the operations on names alone.
func (op *Op) names(c *interrupt.Call) error {
	switch op.Kind { //nolint:exhaustive // see once
	case Rename:
		return rawio.Rename(c, op.More.Path, op.More.Path2)
	case Unlink:
		return rawio.Unlink(c, op.More.Path)
	case Rmdir:
		return rawio.Rmdir(c, op.More.Path)
	default:
		return rawio.Mkdir(c, op.More.Path, op.Mode)
	}
}
