package file

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/pool"
)

// Direct is a flag for [Pool.Open], beside those of package os: transfers go past the page
// cache (O_DIRECT). What is written must be aligned to [File.Alignment] in memory, offset
// and length: else it is refused with an *AlignmentError. What is read need not be.
//
// Where the file system has no direct I/O, Open fails with an error that matches syscall.EINVAL
// or errors.ErrUnsupported. A file that os.O_CREATE has made by then is left as it is: it is
// not removed, since it may be somebody else's by now. TryDirect leaves none.
const Direct = fileop.Direct

// TryDirect is [Direct] where the file system has it. Elsewhere the file is open for usual
// transfers; [File.Direct] tells. Some file systems have it and refuse transfers nevertheless.
const TryDirect = fileop.TryDirect

// AlignmentError refuses a direct write whose memory, offset or length does not fit the
// file. Nothing was written.
type AlignmentError = fileop.AlignmentError

// Open opens a file on the lane. flag is os.O_RDONLY and so on, and [Direct] or [TryDirect]; perm, before
// umask, counts if a file is made. Errors are as for [Pool.Do]. If the pool begins to
// shut down meanwhile the file is closed, and the error is ErrShutdown with Effect Done.
func (p *Pool) Open(ctx context.Context, name string, flag int, perm fs.FileMode, opts ...pool.Option) (*File, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if err := filled("name", name); err != nil {
		return nil, err
	}
	var opened *fileop.File
	id, err := p.files.Register(ctx, func(ctx context.Context) (*fileop.File, error) {
		op := Op{Kind: fileop.Open, Flags: int32(flag), Mode: perm, More: &fileop.More{Path: name}, Interruptible: p.signal != nil}
		op.Do(ctx, p.signal)
		if op.WasCalledOff() {
			return nil, op.Failure(ctx)
		}
		if op.Err != nil {
			return nil, named(&op, op.Err)
		}
		f := &fileop.File{
			Name: name, FD: uintptr(op.N), Appends: flag&os.O_APPEND != 0,
			WriteOnly: flag&access == os.O_WRONLY, ReadOnly: flag&access == os.O_RDONLY,
		}
		if err := fileop.Describe(f); err != nil {
			_ = p.close(f)
			return nil, named(&op, err)
		}
		opened = f // read by a caller only who has not left
		return f, nil
	}, opts...)
	if e, ok := errors.AsType[*ioerr.Error](err); ok && endedEarly(e) {
		return nil, unfinished(&Op{Kind: fileop.Open, More: &fileop.More{Path: name}}, e)
	}
	if err != nil {
		return nil, err
	}
	opened.ID = id
	return &File{pool: p, file: opened}, nil
}

// access is the flags that say for what a file is opened.
const access = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// Create is Open of a file for reading and writing, which is made with mode 0o666, before
// umask, if it is not there, and is emptied if it is.
func (p *Pool) Create(ctx context.Context, name string, opts ...pool.Option) (*File, error) {
	return p.Open(ctx, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666, opts...)
}

// Adopt takes ownership of a file that is open already, and puts it into blocking mode.
// From then on f must not be used any more, nor closed, nor adopted again: its descriptor is
// the pool's. It waits for nothing and takes no slot.
//
// On an error f stays the caller's, if in blocking mode. The error is an *ioerr.Error: with
// an *ioerr.ArgumentError if f is nil or closed, ErrShutdown, or an *fs.PathError of the
// operation stat, since the system must say what kind of file it is.
func (p *Pool) Adopt(f *os.File) (*File, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, bad("f", nil, "must not be nil")
	}
	adopted := &fileop.File{Name: f.Name(), FD: f.Fd()}
	if adopted.FD == ^uintptr(0) {
		return nil, bad("f", f.Name(), "must not be closed")
	}
	if err := fileop.Describe(adopted); err != nil {
		return nil, p.failed(&Op{Kind: fileop.Stat, File: adopted}, err)
	}
	p.adopted.Store(adopted, f) // from now on f is reachable, so that nothing else closes it
	id, err := p.files.Adopt(adopted)
	if err != nil {
		p.adopted.Delete(adopted)
		return nil, err
	}
	adopted.ID = id
	return &File{pool: p, file: adopted}, nil
}

// open refuses what is not worth beginning with.
func (p *Pool) open() error {
	if p == nil || p.files == nil {
		return bad("p", "file.Pool", "was not made by file.NewPool")
	}
	return nil
}

// close closes the descriptor.
func (p *Pool) close(f *fileop.File) error {
	if adopted, ok := p.adopted.LoadAndDelete(f); ok {
		return adopted.(*os.File).Close() //nolint:errcheck // nothing else is in there
	}
	op := Op{Kind: fileop.Close, File: f}
	op.Do(context.Background(), nil)
	return named(&op, op.Err)
}

// bad is the error for an argument.
func bad(name string, value any, reason string) error {
	return &ioerr.Error{
		Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None,
		Err: &ioerr.ArgumentError{Name: name, Value: value, Reason: reason},
	}
}
