package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/iolane/iolane/ioerr"
)

// StreamConfig makes a [Reader] or [Writer]. The zero StreamConfig is ready to use.
type StreamConfig struct {
	// Offset is where in the file the stream begins, in bytes.
	Offset int64

	// Limit is how many bytes a Reader reads at most; zero means up to the end of the file.
	// It must be 0 for a Writer.
	Limit int64

	// BufferSize is how many bytes are transferred at a time, up to 1 GiB. Zero means 128
	// KiB, or with Buffers their size, which it must not exceed. Of a direct file it is
	// rounded down to what the file is aligned to.
	BufferSize int

	// Depth is how many buffers there are, up to 1,024: one with the user of the stream, the
	// others in flight. With one, transfers are made by Read and Write themselves. Zero
	// means 4.
	Depth int

	// Buffers lends the stream its buffers, as many as Depth from when it is made until
	// Close. For the first one it waits, as Buffers.Get does; if no more than that are free
	// then, it makes do with fewer. Nil means buffers of the stream's own, which are made
	// when they are needed.
	Buffers *Buffers

	slow bool // for tests; see pace
}

// OffsetError says where in a file a stream, or one of many reads, has failed. It is in an
// *ioerr.Error.
type OffsetError struct {
	Offset int64 // of the first byte that was not transferred, or of which that is not known
	Err    error // what has happened; never nil
}

// Error gives the offset and what has happened.
func (e *OffsetError) Error() string { return fmt.Sprintf("at offset %d: %v", e.Offset, e.Err) }

// Unwrap returns Err.
func (e *OffsetError) Unwrap() error { return e.Err }

// at puts the offset into the error of an operation.
func at(off int64, err error) error {
	e, ok := errors.AsType[*ioerr.Error](err)
	if !ok {
		return &OffsetError{off, err}
	}
	told := *e // several may have got the same one
	told.Err = &OffsetError{off, e.Err}
	return &told
}

const (
	defaultBlock = 128 << 10
	maxBlock     = 1 << 30
	defaultDepth = 4
	maxDepth     = 1024
)

// complete checks the config of a stream of f and fills in the defaults.
func (c StreamConfig) complete(f *File) (StreamConfig, error) {
	complain := func(field string, value any, reason string) (StreamConfig, error) {
		return c, bad("file.StreamConfig."+field, value, reason)
	}
	most := maxBlock
	if c.Buffers != nil {
		most = min(most, c.Buffers.Size())
	}
	switch {
	case f == nil:
		return c, bad("f", nil, "must not be nil")
	case f.file == nil:
		return c, bad("f", "file.File", "was not made by a file.Pool")
	case !f.file.Seeks:
		return c, bad("f", f.Name(), "must have offsets: use Read and Write for a pipe")
	case c.Offset < 0:
		return complain("Offset", c.Offset, "must be at least 0")
	case c.Limit < 0 || c.Limit > math.MaxInt64-c.Offset:
		return complain("Limit", c.Limit, "must be at least 0, and end below 2^63")
	case c.BufferSize < 0 || c.BufferSize > most:
		return complain("BufferSize", c.BufferSize, "must be 1 byte to 1 GiB, at most the size of Buffers, or 0 for the default")
	case c.Depth < 0 || c.Depth > maxDepth:
		return complain("Depth", c.Depth, "must be 1 to 1024, or 0 for the default")
	}
	if c.Depth == 0 {
		c.Depth = defaultDepth
	}
	if c.BufferSize == 0 {
		if c.BufferSize = most; c.Buffers == nil {
			c.BufferSize = defaultBlock
		}
	}
	_, unit := f.Alignment()
	if c.BufferSize < unit {
		return complain("BufferSize", c.BufferSize, fmt.Sprintf("must be at least %d, the alignment of the file", unit))
	}
	c.BufferSize -= c.BufferSize % unit
	return c, nil
}

// closed is the error for the use of a stream after Close.
func closed() error {
	return &ioerr.Error{Outcome: ioerr.Failed, Origin: ioerr.Executor, Effect: ioerr.None, Err: fs.ErrClosed}
}

// wantsRoom reports whether an operation was refused for want of room: it may succeed when
// fewer are in flight.
func wantsRoom(err error) bool {
	e, ok := errors.AsType[*ioerr.Error](err)
	if _, stuck := errors.AsType[*ioerr.StuckError](err); !ok || stuck || e.Effect != ioerr.None {
		return false
	}
	for _, want := range []error{
		ioerr.ErrQueueFull, ioerr.ErrOverloaded, ioerr.ErrKeyBusy, ioerr.ErrReentry, ioerr.ErrWaitersFull, ioerr.ErrHandleBusy,
	} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// wasLeft reports whether an operation runs on without its caller.
func wasLeft(err error) bool {
	e, ok := errors.AsType[*ioerr.Error](err)
	return ok && e.Effect == ioerr.Unknown
}

// noContext is the error for a nil context.
func noContext(ctx context.Context) error {
	if ctx == nil {
		return bad("ctx", nil, "must not be nil")
	}
	return nil
}
