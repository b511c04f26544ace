package fileop

import (
	"sync/atomic"
	"unsafe"
)

// Slab is memory that a lane may register with a ring of the kernel. It is registered in
// parts, since a ring takes no more than 1 GiB at a time; an [Op] whose Buf lies in one of
// them saves the kernel the pinning of pages.
//
// A ring keeps the pages that it has registered, whatever becomes of the memory, so memory
// that its owner gives back must not be taken for registered any more: see Retire.
type Slab struct {
	memory  []byte
	part    int // the length of all parts but the last
	retired atomic.Bool
}

// maxPart is the most that a ring takes as one buffer.
const maxPart = 1 << 30

// NewSlab makes a slab of memory that is made up of units of so many bytes, none of
// which is to be divided.
func NewSlab(memory []byte, unit int) *Slab {
	return &Slab{memory: memory, part: max(maxPart/unit, 1) * unit}
}

// Len is how many bytes there are.
func (s *Slab) Len() int { return len(s.memory) }

// Parts returns what is to be registered, in the order of the places. Units of more than
// 1 GiB make parts that no ring takes.
func (s *Slab) Parts() [][]byte {
	var parts [][]byte
	for m := s.memory; len(m) > 0; {
		n := min(s.part, len(m))
		parts, m = append(parts, m[:n:n]), m[n:]
	}
	return parts
}

// Retire says that the memory is about to be given back: from now on nothing lies in it.
// No operation uses it.
func (s *Slab) Retire() { s.retired.Store(true) }

// Contains tells in which part, from 0, the whole of buf lies, if it does.
func (s *Slab) Contains(buf []byte) (place int, ok bool) {
	off, ok := s.Offset(buf)
	if s.retired.Load() || !ok || len(buf) == 0 || (off+len(buf)-1)/s.part != off/s.part {
		return 0, false
	}
	return off / s.part, true
}

// Offset tells where in the slab buf begins, if all of it lies there.
func (s *Slab) Offset(buf []byte) (off int, ok bool) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s.memory)))
	p := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	if cap(buf) == 0 || p < start || p-start >= uintptr(len(s.memory)) || len(buf) > len(s.memory)-int(p-start) {
		return 0, false
	}
	return int(p - start), true
}
