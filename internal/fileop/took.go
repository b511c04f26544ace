package fileop

import "io"

// Took notes what one system call of the operation has returned, or one completion of a
// ring: n bytes, or whatever Kind counts, or a bare error. It reports whether the operation
// has ended; if not, the engine goes on with [Op.Rest] or [Op.Vectors] at [Op.Offset].
//
// A transfer ends after the first system call, however few bytes that moved. With Full it
// ends when all is moved; or at the end of the file (0 bytes: no error, N says it); or when
// a Write moves nothing, with io.ErrShortWrite; or with an error. Then N is still what was
// moved before, so a Full transfer can have both, bytes and an error, ErrCancelled among
// them: that much has happened, and the rest has not.
//
// EINTR, and EAGAIN of a ring, are the engine's business and must not come here.
func (op *Op) Took(n int, err error) (ended bool) {
	if err != nil {
		op.Err = err
		return true
	}
	if !op.Transfers() {
		op.N = int64(n)
		return true
	}
	op.N += int64(n)
	if !op.Full || op.N >= op.Size() {
		return true
	}
	if n == 0 && op.Kind == Write {
		op.Err = io.ErrShortWrite
	}
	return n == 0
}

// Transfers reports whether the operation moves bytes, so that N counts them.
func (op *Op) Transfers() bool { return op.Kind == Read || op.Kind == Write || op.Kind == CopyRange }

// Vectored reports whether a transfer uses several buffers.
func (op *Op) Vectored() bool { return op.More != nil && op.More.Bufs != nil }

// Rest is what is still to be moved of Buf.
func (op *Op) Rest() []byte { return op.Buf[op.N:] }

// Left is how many bytes are still to be moved at most.
func (op *Op) Left() int64 { return op.Size() - op.N }

// Offset is where in the file the transfer goes on: AtPosition for what has no offsets, and
// for Append.
func (op *Op) Offset() int64 {
	if op.Off == AtPosition || op.Append {
		return AtPosition
	}
	return op.Off + op.N
}

// Vectors are the parts of the buffers that are still to be moved, the first of which is
// not empty. They share memory with the buffers of the caller, but the slice More.Bufs is
// left as it is.
func (op *Op) Vectors() [][]byte {
	bufs, done := op.More.Bufs, op.N
	for len(bufs) > 0 && done >= int64(len(bufs[0])) {
		done -= int64(len(bufs[0]))
		bufs = bufs[1:]
	}
	if done == 0 {
		return bufs
	}
	rest := make([][]byte, len(bufs))
	copy(rest, bufs)
	rest[0] = rest[0][done:]
	return rest
}
