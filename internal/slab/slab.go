// Package slab is memory for the buffers of I/O: outside of Go's heap, aligned, backed by
// huge pages where the system gives them, and with all of its pages there from the start.
//
// A buffer in it does not move, is not looked at by the collector, can be used for direct
// I/O, and can be registered with a ring of the kernel. Huge pages make the kernel's part
// of a transfer cheaper, since it pins pages one by one.
package slab

// Backing is what kind of pages memory has.
type Backing uint8

// The kinds. Where huge pages were asked for and not given it is Plain.
const (
	Heap        Backing = iota + 1 // Go's heap: on systems for which this package has nothing better
	Plain                          // pages of the usual size
	Transparent                    // huge pages, at least in part, by madvise
	HugeTLB                        // huge pages of the system's reserve
)

// HugePage is the size of a huge page, and the alignment of memory where it can be had.
const HugePage = 2 << 20

// Memory is one piece of memory. It is nobody's but its owner's, who must call Free when no
// system call uses it any more; nothing else gives it back.
type Memory struct {
	Bytes   []byte
	Backing Backing
	Huge    int // how many bytes were found in huge pages when it was made

	free func() error
}

// Free gives the memory back. It is not to be touched any more, on pain of a fault of the
// process. Later calls do nothing.
func (m *Memory) Free() error {
	free := m.free
	m.Bytes, m.free = nil, nil
	if free == nil {
		return nil
	}
	return free()
}

// roundUp makes n a multiple of unit, a power of two.
func roundUp[T int | uintptr](n, unit T) T { return (n + unit - 1) &^ (unit - 1) }
