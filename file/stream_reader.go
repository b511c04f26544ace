package file

import (
	"context"
	"io"
	"math"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/pool"
)

// Reader reads a file from front to back, and ahead of its user: while one buffer is used
// others are being filled. Use [NewReader]. A Reader is for one goroutine at a time, and
// must be closed.
//
// What comes before a faulty place is read first, then comes the error, and again with each
// further call. It is an *ioerr.Error, as from [Pool.Do], with an *OffsetError in it;
// the end of the file is io.EOF by itself. The end is where it was met first: it is not
// looked for again.
//
// When the context ends reads that are in flight are called off, as far as the lane can do
// that, and after what is left of the buffer at hand comes the context's error.
type Reader struct {
	s      blocks
	cancel context.CancelFunc

	next   int64  // offset of the next block to be started
	end    int64  // where Limit ends
	window int    // blocks that there may be in flight or at hand
	cur    *block // what rest and data are in; nil: none is at hand
	data   []byte // of cur, all
	rest   []byte // of data, not read yet
	pos    int64  // offset of what is read next
	err    error  // what comes after rest
	closed bool
}

var (
	_ io.ReadSeekCloser = (*Reader)(nil)
	_ io.WriterTo       = (*Reader)(nil)
	_ io.ByteReader     = (*Reader)(nil)
)

// NewReader makes a Reader of f, which must have been opened for reading and have offsets.
// It reads nothing yet. opts go with each read. The error is an *ioerr.Error with an
// *ioerr.ArgumentError, or with a *BuffersError from StreamConfig.Buffers.
//
// On a lane.Abandoning a read that was left keeps its buffer, even of StreamConfig.Buffers,
// and gives it back when it ends, if ever.
func NewReader(ctx context.Context, f *File, c StreamConfig, opts ...pool.Option) (*Reader, error) {
	if err := noContext(ctx); err != nil {
		return nil, err
	}
	r := &Reader{end: math.MaxInt64}
	ctx, r.cancel = context.WithCancel(ctx)
	if err := r.s.open(ctx, f, fileop.Read, c, opts); err != nil {
		r.cancel()
		return nil, err
	}
	if c.Limit > 0 {
		r.end = c.Offset + c.Limit
	}
	r.begin(c.Offset)
	return r, nil
}

// begin makes off the place to read from. Nothing is in flight.
//
// One block is read before any ahead: for what fits into one that is all there is to do.
func (r *Reader) begin(off int64) {
	_, unit := r.s.file.Alignment()
	r.pos, r.next, r.window, r.err = off, off-off%int64(unit), 1, nil
}

// Read reads what is at hand, or else waits for the next block.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := r.fill(); err != nil {
		return 0, err
	}
	n := copy(p, r.rest)
	r.used(n)
	return n, nil
}

// ReadByte reads one byte.
func (r *Reader) ReadByte() (byte, error) {
	if err := r.fill(); err != nil {
		return 0, err
	}
	b := r.rest[0]
	r.used(1)
	return b, nil
}

// WriteTo writes the rest of the file to w, straight from the buffers: w must not keep what
// it is given. Errors are those of w as they are, or as from Read.
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) {
	for {
		if err := r.fill(); err != nil {
			if err == io.EOF { //nolint:errorlint // it comes by itself, and another may be in an error
				err = nil
			}
			return n, err
		}
		all := len(r.rest)
		m, err := w.Write(r.rest)
		if m < 0 || m > all {
			return n, bad("w", m, "wrote more than it was given")
		}
		r.used(m)
		n += int64(m)
		switch {
		case err != nil:
			return n, err
		case m < all:
			return n, io.ErrShortWrite
		}
	}
}

// Close calls off what is in flight, waits for its end, and gives the buffers back. It
// leaves the file open, and returns nil. Another Close does nothing. On a lane.Abandoning,
// where a read that is called off is left, and bars the file until it ends, Close only
// waits; what ends that is the context of the Reader, or the lane's limit.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	defer r.cancel()
	if !r.s.file.pool.carries {
		r.cancel()
	}
	r.release()
	r.s.close()
	return nil
}

// fill sees to it that something is at hand, or returns why nothing is.
func (r *Reader) fill() error {
	if r.closed {
		return closed()
	}
	for len(r.rest) == 0 {
		r.release()
		if r.err == nil && r.s.ctx.Err() != nil {
			r.err = at(r.pos, r.s.file.pool.cancelled(r.s.ctx, &Op{Kind: fileop.Read, File: r.s.file.file}))
		}
		if r.err != nil {
			return r.err
		}
		r.ahead()
		if len(r.s.line) == 0 && !r.startNext(false) { // as at the beginning, or with one buffer
			r.err = at(r.pos, r.s.noBuffer())
			continue
		}
		r.receive(r.s.first())
		r.ahead()
	}
	return nil
}

// used takes note of what was read.
func (r *Reader) used(n int) {
	r.rest = r.rest[n:]
	r.pos += int64(n)
	if len(r.rest) == 0 {
		r.release()
		r.ahead()
	}
}

// release is for the block at hand, which is used up.
func (r *Reader) release() {
	if r.cur != nil {
		r.s.drop(r.cur)
	}
	r.cur, r.data, r.rest = nil, nil, nil
}

// ahead starts as many reads as there may be in flight.
func (r *Reader) ahead() {
	if r.window == 1 || !r.s.beside() {
		return
	}
	for r.err == nil && r.next < r.end && r.startNext(true) {
	}
}

// startNext starts the next read, if there is a buffer for it.
func (r *Reader) startNext(beside bool) bool {
	b := r.s.take()
	if b == nil {
		return false
	}
	n := int64(len(b.buf))
	if left := r.end - r.next; left < n {
		_, unit := r.s.file.Alignment()
		n = min(n, (left+int64(unit)-1)/int64(unit)*int64(unit))
	}
	b.op = ReadAt(r.s.file, b.buf[:n], r.next)
	r.next += n
	r.s.start(b, beside)
	return true
}

// receive puts a block at hand, and what comes after it into err.
func (r *Reader) receive(b *block) {
	op := &b.op
	from, to := r.pos-op.Off, min(op.N, r.end-op.Off) // r.pos is past op.Off in the first block of a direct file only
	switch {
	case b.err != nil:
		r.err = at(max(op.Off+op.N, r.pos), b.err)
	case op.N < op.Size() || op.Off+op.N >= r.end:
		r.err = io.EOF
	}
	r.window = r.s.config.Depth
	r.cur = b
	if b.buf != nil && from < to {
		r.data = b.buf[from:to]
		r.rest = r.data
	}
}
