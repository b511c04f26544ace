package file

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/pool"
)

// File is an open file of a [Pool]. All methods may be called from any goroutine. Errors
// of its methods are those of [Pool.Do], but for io.EOF. The zero File refuses operations.
type File struct {
	pool *Pool
	file *fileop.File
}

// op is the file as operations know it.
func (f *File) op() *fileop.File {
	if f == nil {
		return nil
	}
	return f.file
}

// owner is the pool of the file: nil, which refuses everything, of one that no pool has opened.
func (f *File) owner() *Pool {
	if f == nil {
		return nil
	}
	return f.pool
}

// Name returns the name with which the file was opened.
func (f *File) Name() string { return f.file.Name }

// ID returns the name of the file in its pool.
func (f *File) ID() handle.ID { return f.file.ID }

// Direct reports whether transfers go past the page cache, and writes have to be aligned: it
// tells what has become of [TryDirect]. It is false on darwin, where direct I/O needs no
// alignment.
func (f *File) Direct() bool { return f.file.Direct }

// Alignment returns what the memory of direct writes, and their offset and length, have to
// be a multiple of, in bytes; 1 and 1 if the file is not direct. Reads need not be
// aligned, but cost a copy if they are not.
func (f *File) Alignment() (memory, offset int) {
	if !f.file.Direct {
		return 1, 1
	}
	return f.file.DirectMem, f.file.DirectOff
}

// Close closes the file: what comes later, and what has not begun, is refused with an error
// that matches fs.ErrClosed and ErrHandleNotFound; what runs comes to its end; then the
// descriptor is closed. Close waits for that, as pool.Pool.Destroy does, and returns what
// close(2) says (an *ioerr.HookError). When ctx ends it stops waiting; the file is closed all
// the same. Another Close does nothing.
func (f *File) Close(ctx context.Context) error {
	if err := f.owner().open(); err != nil {
		return err
	}
	return f.pool.files.Destroy(ctx, f.file.ID)
}

// ReadAt reads len(buf) bytes from offset off. Like io.ReaderAt it returns an error if it
// returns fewer: io.EOF at the end of the file.
func (f *File) ReadAt(ctx context.Context, buf []byte, off int64, opts ...pool.Option) (int, error) {
	n, err := f.do(ctx, ReadAt(f, buf, off), opts)
	if err == nil && n < len(buf) {
		err = io.EOF
	}
	return n, err
}

// Readv is ReadAt into several buffers, one after the other.
func (f *File) Readv(ctx context.Context, bufs [][]byte, off int64, opts ...pool.Option) (int64, error) {
	op := Readv(f, bufs, off)
	err := f.owner().Do(ctx, &op, opts...)
	if err == nil && op.N < op.Size() {
		err = io.EOF
	}
	return op.N, err
}

// Read reads up to len(buf) bytes at the file's own position: from a pipe, say. At the
// end it returns 0 and io.EOF.
func (f *File) Read(ctx context.Context, buf []byte, opts ...pool.Option) (int, error) {
	n, err := f.do(ctx, Read(f, buf), opts)
	if err == nil && n == 0 && len(buf) > 0 {
		err = io.EOF
	}
	return n, err
}

// WriteAt writes all of buf at offset off. It returns an error if it writes less.
func (f *File) WriteAt(ctx context.Context, buf []byte, off int64, opts ...pool.Option) (int, error) {
	return f.do(ctx, WriteAt(f, buf, off), opts)
}

// Writev is WriteAt of several buffers, one after the other.
func (f *File) Writev(ctx context.Context, bufs [][]byte, off int64, opts ...pool.Option) (int64, error) {
	op := Writev(f, bufs, off)
	err := f.owner().Do(ctx, &op, opts...)
	return op.N, err
}

// Write writes all of buf at the file's own position: to a pipe, say.
func (f *File) Write(ctx context.Context, buf []byte, opts ...pool.Option) (int, error) {
	return f.do(ctx, Write(f, buf), opts)
}

// Append writes all of buf at the end of the file; see the function [Append].
func (f *File) Append(ctx context.Context, buf []byte, opts ...pool.Option) (int, error) {
	return f.do(ctx, Append(f, buf), opts)
}

// Sync makes the file durable. If that fails the file is of no use any more; see the
// package documentation.
func (f *File) Sync(ctx context.Context, opts ...pool.Option) error {
	_, err := f.do(ctx, Sync(f), opts)
	return err
}

// Datasync makes the data of the file durable; as Sync.
func (f *File) Datasync(ctx context.Context, opts ...pool.Option) error {
	_, err := f.do(ctx, Datasync(f), opts)
	return err
}

// Truncate makes the file so many bytes long.
func (f *File) Truncate(ctx context.Context, size int64, opts ...pool.Option) error {
	_, err := f.do(ctx, Truncate(f, size), opts)
	return err
}

// Allocate makes sure that the n bytes from off have room on the disk, and makes the file
// longer where it is shorter.
func (f *File) Allocate(ctx context.Context, off, n int64, opts ...pool.Option) error {
	_, err := f.do(ctx, Allocate(f, 0, off, n), opts)
	return err
}

// Stat describes the file.
func (f *File) Stat(ctx context.Context, opts ...pool.Option) (Info, error) {
	op := Stat(f)
	err := f.owner().Do(ctx, &op, opts...)
	return op.More.Info, err
}

// NextData returns where the file has data next, at off or behind it, and where that ends:
// between two such parts there is a hole, which reads as zeros and takes up no room. The error
// is io.EOF if there is no data up to the end. Where the system or the file system cannot
// tell, all is data (Linux, darwin and FreeBSD can). What is written meanwhile may be seen or
// not.
//
// It moves the file's own position, so Read and Write, which go by that, do not go with it.
func (f *File) NextData(ctx context.Context, off int64, opts ...pool.Option) (start, end int64, err error) {
	op := NextData(f, off)
	err = f.owner().Do(ctx, &op, opts...)
	if err == nil && op.N == op.More.Off2 {
		err = io.EOF
	}
	return op.N, op.More.Off2, err
}

// Chmod gives the file the permissions mode; see the function [Chmod].
func (f *File) Chmod(ctx context.Context, mode fs.FileMode, opts ...pool.Option) error {
	_, err := f.do(ctx, Chmod(f, mode), opts)
	return err
}

// SetTimes sets when the file was last accessed and modified; see the function [SetTimes].
func (f *File) SetTimes(ctx context.Context, accessed, modified time.Time, opts ...pool.Option) error {
	_, err := f.do(ctx, SetTimes(f, accessed, modified), opts)
	return err
}

// Advise tells the kernel how a part of the file will be used; see the function [Advise].
func (f *File) Advise(ctx context.Context, advice int, off, n int64, opts ...pool.Option) error {
	_, err := f.do(ctx, Advise(f, advice, off, n), opts)
	return err
}

// Lock takes a lock on the whole file; see the function [Lock].
func (f *File) Lock(ctx context.Context, mode LockMode, opts ...pool.Option) error {
	_, err := f.do(ctx, Lock(f, mode), opts)
	return err
}

// Unlock gives up what Lock took.
func (f *File) Unlock(ctx context.Context, opts ...pool.Option) error {
	_, err := f.do(ctx, Unlock(f), opts)
	return err
}

// LockRange takes a lock on a part of the file; see the function [LockRange].
func (f *File) LockRange(ctx context.Context, mode LockMode, off, n int64, opts ...pool.Option) error {
	_, err := f.do(ctx, LockRange(f, mode, off, n), opts)
	return err
}

// UnlockRange gives up what LockRange took, or a part of it.
func (f *File) UnlockRange(ctx context.Context, off, n int64, opts ...pool.Option) error {
	_, err := f.do(ctx, UnlockRange(f, off, n), opts)
	return err
}

// CopyRange copies n bytes from offset off of src to dstOff of f. It returns io.EOF with
// fewer bytes if src ends before.
func (f *File) CopyRange(ctx context.Context, dstOff int64, src *File, off, n int64, opts ...pool.Option) (int64, error) {
	op := CopyRange(f, dstOff, src, off, n)
	err := f.owner().Do(ctx, &op, opts...)
	if err == nil && op.N < n {
		err = io.EOF
	}
	return op.N, err
}

// do does an operation in an Op that is kept, so that nothing is allocated.
func (f *File) do(ctx context.Context, op Op, opts []pool.Option) (int, error) {
	p := f.owner()
	if err := p.open(); err != nil {
		return 0, err
	}
	mine, ok := p.ops.Get().(*Op)
	if !ok {
		mine = new(Op)
	}
	*mine = op
	err := p.Do(ctx, mine, opts...)
	n := int(mine.N)
	*mine = Op{}
	p.ops.Put(mine)
	return n, err
}
