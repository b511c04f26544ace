package uring

import (
	"math"
	"runtime"
	"time"
	"unsafe"
)

// FD is a file descriptor, or a registered file.
type FD int32

// firstRegistered is far from descriptors.
const firstRegistered = FD(math.MinInt32)

// Registered is the file at a place of the table of RegisterFiles.
func Registered(place int) FD { return firstRegistered + FD(place) }

// of puts the file into a description.
func (f FD) of(e *sqe) {
	e.fd = int32(f)
	if f < -1 {
		e.fd = int32(f - firstRegistered)
		e.flags |= sqeFixedFile
	}
}

// lightBytes is how much may be copied before the runtime is told that the thread is
// away: some 10 us.
const lightBytes = 64 << 10

// heavy is the weight of an operation of which nobody knows how long it takes.
const heavy = lightBytes + 1

// Nop describes an operation that does nothing.
func (r *Ring) Nop(s Slot) {
	_, e := r.describe(s, nil)
	e.set(OpNop, -1, 0, 0, 0, 0, s)
}

// Read describes a read into buf from an offset, or from the file's own position if
// that is -1. The buffer belongs to the kernel until the completion.
func (r *Ring) Read(s Slot, fd FD, buf []byte, off int64) { r.transfer(s, OpRead, fd, buf, off, 0) }

// Write describes a write of buf, which must not change until the completion.
func (r *Ring) Write(s Slot, fd FD, buf []byte, off int64) { r.transfer(s, OpWrite, fd, buf, off, 0) }

// ReadFixed describes a read into a part of a registered buffer.
func (r *Ring) ReadFixed(s Slot, fd FD, buf []byte, off int64, place int) {
	r.transfer(s, OpReadFixed, fd, buf, off, place)
}

// WriteFixed describes a write of a part of a registered buffer.
func (r *Ring) WriteFixed(s Slot, fd FD, buf []byte, off int64, place int) {
	r.transfer(s, OpWriteFixed, fd, buf, off, place)
}

func (r *Ring) transfer(s Slot, op Op, fd FD, buf []byte, off int64, place int) {
	p := unsafe.Pointer(unsafe.SliceData(buf))
	_, e := r.describe(s, p)
	e.set(op, 0, uint64(off), address(p), uint32(min(len(buf), maxLen)), 0, s)
	e.bufIndex = uint16(place)
	fd.of(e)
	r.weight += int64(min(len(buf), heavy))
}

// Readv describes a read into several pieces of memory. The pieces and the slice that
// lists them belong to the kernel until the completion.
func (r *Ring) Readv(s Slot, fd FD, pieces []Iovec, off int64) { r.vector(s, OpReadv, fd, pieces, off) }

// Writev describes a write of several pieces of memory.
func (r *Ring) Writev(s Slot, fd FD, pieces []Iovec, off int64) {
	r.vector(s, OpWritev, fd, pieces, off)
}

func (r *Ring) vector(s Slot, op Op, fd FD, pieces []Iovec, off int64) {
	p := unsafe.Pointer(unsafe.SliceData(pieces))
	_, e := r.describe(s, p)
	e.set(op, 0, uint64(off), address(p), uint32(len(pieces)), 0, s)
	fd.of(e)
	r.weight += heavy
}

// Pieces appends bufs to pieces.
func Pieces(pieces []Iovec, bufs ...[]byte) []Iovec {
	for _, b := range bufs {
		pieces = append(pieces, Iovec{Base: unsafe.SliceData(b), Len: uintptr(len(b))})
	}
	return pieces
}

// Timeout describes waiting for d. It completes with -ETIME when d has passed.
func (r *Ring) Timeout(s Slot, d time.Duration) { r.timer(s, d, 0) }

// TimeoutAt describes waiting until it is at; see Now.
func (r *Ring) TimeoutAt(s Slot, at time.Duration) { r.timer(s, at, timeoutAbs) }

func (r *Ring) timer(s Slot, d time.Duration, flags uint32) {
	o, e := r.describe(s, nil)
	d = max(d, 0)
	o.time = timespec{sec: int64(d / time.Second), nsec: int64(d % time.Second)}
	// No number of completions that ends it early: off is zero.
	e.set(OpTimeout, -1, 0, address(unsafe.Pointer(&o.time)), 1, flags, s)
}

// address is what the kernel is told of memory that the slot points to.
func address(p unsafe.Pointer) uint64 {
	a := uint64(uintptr(p))
	runtime.KeepAlive(p)
	return a
}
