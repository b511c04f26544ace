package file

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
)

// result is the error of an operation for its caller. err is what the pool says, with
// what the system has said in it as it is.
func (p *Pool) result(op *Op, err error) error {
	e, ok := errors.AsType[*ioerr.Error](err)
	switch {
	case !ok:
		return err
	case e.Err == ioerr.ErrHandleNotFound: //nolint:errorlint // as it is, not in what the system said
		return gone(op, e)
	case endedEarly(e):
		return unfinished(op, e)
	case op.Err == nil || e.Origin != ioerr.Leaf:
		return err
	}
	told := *e // several may have got the same one
	told.Err = named(op, e.Err)
	return &told
}

// endedEarly reports whether it was a context, or a limit of the lane, that has ended an operation. A
// refusal for lack of room is none: it allocates nothing.
func endedEarly(e *ioerr.Error) bool {
	return (e.Outcome == ioerr.Cancelled || e.Outcome == ioerr.TimedOut) && !errors.Is(e.Err, ioerr.ErrAcceptTimeout)
}

// unfinished puts the name of the operation and of the file to that.
func unfinished(op *Op, e *ioerr.Error) error {
	if op.Kind == fileop.Nop || op.Kind == fileop.Sleep { // they have none
		return e
	}
	told := *e
	told.Err = named(op, e.Err)
	return &told
}

// gone is the error of an operation whose file is not in the pool any more. It may be that
// of another one which was to be done together with it.
func gone(op *Op, e *ioerr.Error) error {
	files := []*fileop.File{op.File}
	if op.More != nil {
		files = append(files, op.More.File2)
	}
	for _, f := range files {
		if f != nil && e.Handle == f.ID {
			told := *e
			told.Err = &fs.PathError{Op: verb(op.Kind), Path: f.Name, Err: closedError{}}
			return &told
		}
	}
	return e
}

// closedError is what there is to say of a file that is not in the pool any more.
type closedError struct{}

// Error implements error.
func (closedError) Error() string { return fs.ErrClosed.Error() }

// Is matches fs.ErrClosed and ErrHandleNotFound.
func (closedError) Is(target error) bool {
	return target == fs.ErrClosed || target == ioerr.ErrHandleNotFound
}

// outcome is the error of an operation that was done together with others, for which
// nobody but op.Err speaks.
func (p *Pool) outcome(op *Op) error {
	if op.Err == nil {
		return nil
	}
	if _, told := errors.AsType[*ioerr.Error](op.Err); told { // it was refused, left, or called off
		return p.result(op, op.Err)
	}
	return p.failed(op, op.Err)
}

// failed is the error of an operation that was done.
func (p *Pool) failed(op *Op, err error) error {
	e := &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Leaf, Effect: ioerr.Done, Lane: p.lane, Err: named(op, err)}
	if id := idOf(op); !id.IsZero() {
		e.Handle = id
	}
	return e
}

// cancelled is the error of an operation that has not begun since ctx has ended.
func (p *Pool) cancelled(ctx context.Context, op *Op) error {
	e := &ioerr.Error{Outcome: ioerr.Cancelled, Origin: ioerr.Lane, Effect: ioerr.None, Lane: p.lane, Err: context.Cause(ctx)}
	switch {
	case errors.Is(e.Err, ioerr.ErrShutdown): // inside a call of the pool
		e.Outcome = ioerr.ShutdownInProgress
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Outcome = ioerr.TimedOut
	}
	return unfinished(op, e)
}

// named puts the name of the operation and of the file to what the system has said.
func named(op *Op, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fileop.AlignmentError](err); ok { // it has them
		return err
	}
	path := ""
	switch {
	case op.File != nil:
		path = op.File.Name
	case op.More != nil:
		path = op.More.Path
	}
	switch op.Kind { //nolint:exhaustive // the others have one name
	case fileop.Rename:
		return &os.LinkError{Op: verb(op.Kind), Old: path, New: op.More.Path2, Err: err}
	case fileop.CopyRange: // the system does not say on which side it was
		return &os.LinkError{Op: verb(op.Kind), Old: path, New: op.More.File2.Name, Err: err}
	}
	return &fs.PathError{Op: verb(op.Kind), Path: path, Err: err}
}

// verb names an operation as package os does, where that has it.
func verb(k fileop.Kind) string {
	switch k {
	case fileop.Nop, fileop.Kinds:
		return "nop"
	case fileop.Open:
		return "open"
	case fileop.Close:
		return "close"
	case fileop.Read:
		return "read"
	case fileop.Write:
		return "write"
	case fileop.Fsync:
		return "sync"
	case fileop.Fdatasync:
		return "datasync"
	case fileop.Fallocate:
		return "allocate"
	case fileop.Truncate:
		return "truncate"
	case fileop.Stat:
		return "stat"
	case fileop.Rename:
		return "rename"
	case fileop.Unlink, fileop.Rmdir:
		return "remove"
	case fileop.Mkdir:
		return "mkdir"
	case fileop.Advise:
		return "advise"
	case fileop.Flock, fileop.RangeLock:
		return "lock"
	case fileop.CopyRange:
		return "copy"
	case fileop.Data:
		return "seek"
	case fileop.Chmod:
		return "chmod"
	case fileop.Times:
		return "chtimes"
	case fileop.Sleep:
		return "sleep"
	}
	return "unknown operation"
}
