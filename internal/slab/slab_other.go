//go:build !linux

package slab

import "unsafe"

// Map makes need bytes of memory, at least 1, aligned to align, a power of two.
func Map(need, align int) (*Memory, error) {
	b := make([]byte, need+align)
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	from := int(roundUp(addr, uintptr(align)) - addr)
	return &Memory{Bytes: b[from : from+need : from+need], Backing: Heap}, nil
}
