package file

import (
	"context"
	"errors"
	"io/fs"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// Control calls fn with the descriptor of the file, for what this package has no operation for: an
// ioctl, say. It is a call on the lane, and holds a share of the file as an operation does: while fn
// runs the descriptor is that of this file. After that it may be closed, or be another file's, so
// fn must not keep it; nor may it close it, or put it into non-blocking mode.
//
// An error of fn is in an *ioerr.Error with Origin Leaf and Effect Done, a panic is an
// *ioerr.PanicError; other errors are as for [Pool.Do]. fn is not ended when ctx ends. On a
// lane.Abandoning its caller may leave it (Effect Unknown): then it must share no variables with
// him, as with pool.OffloadOn.
func (f *File) Control(ctx context.Context, fn func(fd uintptr) error, opts ...pool.Option) error {
	p := f.owner()
	if err := p.open(); err != nil {
		return err
	}
	if fn == nil {
		return bad("fn", nil, "must not be nil")
	}
	err := p.files.OffloadOn(ctx, f.file.ID, func(_ context.Context, f *fileop.File) error { return fn(f.FD) }, opts...)
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok {
		return err
	}
	told := *e
	switch {
	case e.Err == ioerr.ErrHandleNotFound: //nolint:errorlint // as it is, not in what fn has said
		told.Err = &fs.PathError{Op: "control", Path: f.Name(), Err: closedError{}}
	case endedEarly(e):
		told.Err = &fs.PathError{Op: "control", Path: f.Name(), Err: e.Err}
	default:
		return err
	}
	return &told
}
