package file

import (
	"context"
	"io"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/pool"
)

// Writer writes a file from front to back, behind its user: what was given to it is
// written in whole buffers while the next one is filled. Use [NewWriter]. A Writer is for
// one goroutine at a time, and must be closed.
//
// The first error comes from the next Write, ReadFrom, Flush, Sync or Close that can know
// of it, and again from each further one. It is an *ioerr.Error, as from [Pool.Do]; if a
// transfer has failed, with an *OffsetError in it: what comes before the offset was
// written, of what comes after it any part may have been. So what was accepted is lost only
// if Flush, Sync or Close returns an error.
//
// Of a direct file the end need not be aligned, nor StreamConfig.Offset. Where something of
// the file is in the same aligned piece, that is read first, for which the file must be
// open for reading, and written back: nobody else may change it meanwhile. A file that has
// become longer by that is then cut to where the Writer ended; who looks at it in between,
// and who crashes, sees zeros there.
//
// A file that was opened with os.O_APPEND is refused. A file is not made shorter: what was
// there beyond the end of the Writer stays.
type Writer struct {
	s blocks

	base   int64  // offset of the block that is being filled
	cur    *block // that one, if any
	n      int    // bytes in it
	clean  int    // of these, as many as are written already
	err    error
	closed bool
}

var (
	_ io.WriteCloser = (*Writer)(nil)
	_ io.ReaderFrom  = (*Writer)(nil)
)

// NewWriter makes a Writer of f, which must have been opened for writing and have offsets.
// opts go with each write. The error is as for [NewReader].
//
// When ctx ends writes that have not begun are not done, so Close returns its error if
// anything was still to be written. On a lane.Abandoning a write that was left keeps its
// buffer, even of StreamConfig.Buffers, and gives it back when it ends, if ever.
func NewWriter(ctx context.Context, f *File, c StreamConfig, opts ...pool.Option) (*Writer, error) {
	if c.Limit != 0 {
		return nil, bad("file.StreamConfig.Limit", c.Limit, "must be 0 for a Writer")
	}
	if f != nil && f.file != nil && f.file.Appends {
		return nil, bad("f", f.Name(), "must not have been opened with os.O_APPEND, which writes elsewhere")
	}
	w := &Writer{base: c.Offset}
	if err := w.s.open(ctx, f, fileop.Write, c, opts); err != nil {
		return nil, err
	}
	return w, nil
}

// Write accepts all of p, and waits if as much as may be in flight is. With fewer bytes
// than len(p) it returns the first error of the Writer.
func (w *Writer) Write(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, w.check()
	}
	for n < len(p) {
		room, err := w.room()
		if err != nil {
			return n, err
		}
		m := copy(room, p[n:])
		n += m
		w.filled(m)
	}
	return n, nil
}

// ReadFrom accepts what r has, read straight into the buffers, until io.EOF. Errors of r
// are returned as they are, and leave the Writer as it was.
func (w *Writer) ReadFrom(r io.Reader) (n int64, err error) {
	for empty := 0; empty < 100; empty++ {
		room, err := w.room()
		if err != nil {
			return n, err
		}
		m, err := r.Read(room)
		if m < 0 || m > len(room) {
			return n, bad("r", m, "read more than there was room for")
		}
		n += int64(m)
		w.filled(m)
		switch {
		case err == io.EOF: //nolint:errorlint // as io.Reader has it: one in another error is an error
			return n, nil
		case err != nil:
			return n, err
		case m > 0:
			empty = 0
		}
	}
	return n, io.ErrNoProgress
}

// Flush writes what was accepted, and returns when all of it is in the file. It is not
// durable by that.
func (w *Writer) Flush() error {
	if err := w.check(); err != nil {
		return err
	}
	w.flush()
	return w.err
}

// Sync is Flush, and makes the data durable, as File.Datasync. If that fails the file is of
// no use any more; see the package documentation.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.s.file.Datasync(w.s.ctx, w.s.opts...); err != nil {
		w.err = err
	}
	return w.err
}

// Close is Flush, and gives the buffers back. Whatever it returns, nothing is in flight any
// more, but for what was left on a lane.Abandoning. It leaves the file open. Another Close
// does nothing and returns the same.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	if w.err == nil {
		w.flush()
	}
	w.closed = true
	w.release()
	w.s.close()
	return w.err
}

// check returns why nothing can be written any more.
func (w *Writer) check() error {
	if w.closed {
		return closed()
	}
	return w.err
}

// room returns where the next bytes go.
func (w *Writer) room() ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	for w.err == nil && (w.s.ready() || w.cur == nil && len(w.s.line) == w.s.config.Depth) {
		w.receive()
	}
	if w.err == nil && w.cur == nil {
		w.cur = w.s.take()
		w.head()
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.cur.buf[w.n:], nil
}

// filled takes note of bytes that were put where room said.
func (w *Writer) filled(n int) {
	if w.n += n; w.n == len(w.cur.buf) {
		w.send(w.s.beside())
	}
}

// send starts the writing of what is in the block at hand.
func (w *Writer) send(beside bool) {
	w.cur.op = WriteAt(w.s.file, w.cur.buf[:w.n], w.base)
	w.base += int64(w.n)
	b := w.cur
	w.cur, w.n, w.clean = nil, 0, 0
	w.s.start(b, beside)
}

// receive waits for the write that was started first.
func (w *Writer) receive() {
	b := w.s.first()
	if b.err != nil && w.err == nil {
		w.err = at(b.op.Off+b.op.N, b.err)
	}
	w.s.drop(b)
}

// flush writes what is at hand and waits for all.
func (w *Writer) flush() {
	_, unit := w.s.file.Alignment()
	odd := w.n%unit != 0
	if w.cur != nil && w.n > w.clean && !odd {
		w.send(false)
	}
	for len(w.s.line) > 0 {
		w.receive()
	}
	if w.err == nil && w.cur != nil && w.n > w.clean && odd {
		w.tail(unit)
	}
}

// release is for the block at hand.
func (w *Writer) release() {
	if w.cur != nil {
		w.s.drop(w.cur)
		w.cur = nil
	}
}
