package file

import (
	"io"
	"math"
)

// Seek sets the place to read from, as an offset in the file: io.SeekEnd is the end of the
// file, or of StreamConfig.Limit if that comes first. Beyond either nothing is read. A
// place that is not in the buffer at hand makes Seek wait for what is in flight. After a Seek
// an error is not returned again, but for that of the context.
//
// The error is an *ioerr.Error, with an *ioerr.ArgumentError if the place makes no sense;
// then nothing has changed.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	if r.closed {
		return 0, closed()
	}
	var from int64
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		from = r.pos
	case io.SeekEnd:
		info, err := r.s.file.Stat(r.s.ctx, r.s.opts...)
		if err != nil {
			return 0, err
		}
		from = min(info.Size, r.end)
	default:
		return 0, bad("whence", whence, "must be io.SeekStart, io.SeekCurrent or io.SeekEnd")
	}
	if offset < -from || offset > math.MaxInt64-from {
		return 0, bad("offset", offset, "must not lead before the beginning of the file, nor beyond 2^63")
	}
	r.seek(from + offset)
	return r.pos, nil
}

func (r *Reader) seek(to int64) {
	if to == r.pos {
		return
	}
	start := r.pos - int64(len(r.data)-len(r.rest)) // of data
	if len(r.rest) > 0 && to >= start && to-start < int64(len(r.data)) {
		r.rest, r.pos = r.data[to-start:], to
		return
	}
	r.release()
	r.s.reset()
	r.begin(to)
	if to >= r.end {
		r.err = io.EOF
	}
}
