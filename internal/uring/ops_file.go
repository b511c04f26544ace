package uring

import (
	"errors"
	"math"
	"strings"
	"unsafe"
)

// Path is a path as the kernel reads it.
type Path struct{ first *byte }

// MakePath copies a path. There must be no zero byte in it.
func MakePath(path string) (Path, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return Path{}, &Error{Step: "path", Err: errZeroByte}
	}
	b := make([]byte, len(path)+1)
	copy(b, path)
	return Path{&b[0]}, nil
}

var errZeroByte = errors.New("path with a zero byte")

// described returns where to describe an operation that does its work at once, or has
// the kernel's workers do it: in either case the thread may be away for long.
func (r *Ring) described(s Slot, memory unsafe.Pointer) (*slot, *sqe) {
	r.weight += heavy
	return r.describe(s, memory)
}

// Openat describes opening a file; the result is its descriptor. Whoever does not want to
// leave it to child processes adds O_CLOEXEC.
func (r *Ring) Openat(s Slot, dir FD, path Path, flags int, mode uint32) {
	p := unsafe.Pointer(path.first)
	_, e := r.described(s, p)
	e.set(OpOpenat, int32(dir), 0, address(p), mode, uint32(flags)|uint32(largeFile), s)
}

// CloseFD describes closing a descriptor. Closing may write what is left to a slow
// device, so it is always left to a worker of the kernel.
func (r *Ring) CloseFD(s Slot, fd FD) {
	_, e := r.described(s, nil)
	e.set(OpClose, int32(fd), 0, 0, 0, 0, s)
	e.flags = sqeAsync
}

// Statx describes asking for the attributes of a file. out belongs to the kernel until the
// completion.
func (r *Ring) Statx(s Slot, dir FD, path Path, flags int, mask uint32, out *Statx) {
	p := unsafe.Pointer(path.first)
	o, e := r.described(s, p)
	o.more = unsafe.Pointer(out)
	e.set(OpStatx, int32(dir), address(o.more), address(p), mask, uint32(flags), s)
}

// Fsync describes writing a file's data to its device, and its attributes unless dataOnly.
func (r *Ring) Fsync(s Slot, fd FD, dataOnly bool) {
	_, e := r.described(s, nil)
	e.set(OpFsync, 0, 0, 0, 0, 0, s)
	if dataOnly {
		e.opFlags = fsyncDatasync
	}
	fd.of(e)
}

// Fallocate describes reserving or giving back a part of a file.
func (r *Ring) Fallocate(s Slot, fd FD, mode uint32, off, length int64) {
	_, e := r.described(s, nil)
	e.set(OpFallocate, 0, uint64(off), uint64(length), mode, 0, s)
	fd.of(e)
}

// Ftruncate describes changing the size of a file.
func (r *Ring) Ftruncate(s Slot, fd FD, size int64) {
	_, e := r.described(s, nil)
	e.set(OpFtruncate, 0, uint64(size), 0, 0, 0, s)
	fd.of(e)
}

// Fadvise describes announcing how a file will be used.
func (r *Ring) Fadvise(s Slot, fd FD, off, length int64, advice int) {
	_, e := r.described(s, nil)
	e.set(OpFadvise, 0, uint64(off), 0, uint32(min(length, math.MaxUint32)), uint32(advice), s)
	if length > math.MaxUint32 {
		e.addr = uint64(length) // since 6.10; before, the part that fits
	}
	fd.of(e)
}

// Renameat describes renaming a file.
func (r *Ring) Renameat(s Slot, oldDir FD, oldPath Path, newDir FD, newPath Path, flags uint32) {
	p := unsafe.Pointer(oldPath.first)
	o, e := r.described(s, p)
	o.more = unsafe.Pointer(newPath.first)
	e.set(OpRenameat, int32(oldDir), address(o.more), address(p), uint32(newDir), flags, s)
}

// Unlinkat describes removing a file, or, by a flag, a directory.
func (r *Ring) Unlinkat(s Slot, dir FD, path Path, flags int) {
	p := unsafe.Pointer(path.first)
	_, e := r.described(s, p)
	e.set(OpUnlinkat, int32(dir), 0, address(p), 0, uint32(flags), s)
}

// Mkdirat describes making a directory.
func (r *Ring) Mkdirat(s Slot, dir FD, path Path, mode uint32) {
	p := unsafe.Pointer(path.first)
	_, e := r.described(s, p)
	e.set(OpMkdirat, int32(dir), 0, address(p), mode, 0, s)
}
