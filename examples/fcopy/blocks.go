package main

import (
	"bytes"
	"sync"
)

// extent is a part of a file, from off to end.
type extent struct{ off, end int64 }

// blocks hands out the blocks of the parts of a file, in order, to whoever asks.
type blocks struct {
	size int64 // of a block; where a part ends it is shorter

	mu    sync.Mutex // held for some ns: fibers may use it
	parts []extent   // the rest
}

func newBlocks(parts []extent, size int64) *blocks {
	return &blocks{size: size, parts: append([]extent(nil), parts...)}
}

// next is the next block, if there is one.
func (b *blocks) next() (off, n int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.parts) == 0 {
		return 0, 0, false
	}
	part := &b.parts[0]
	off, n = part.off, min(b.size, part.end-part.off)
	if part.off += n; part.off == part.end {
		b.parts = b.parts[1:]
	}
	return off, n, true
}

// stop makes it the end.
func (b *blocks) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = nil
}

// count is how many blocks there are left.
func (b *blocks) count() (n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.parts {
		n += (part.end - part.off + b.size - 1) / b.size
	}
	return n
}

// whole is all of a file, as parts.
func whole(size int64) []extent {
	if size == 0 {
		return nil
	}
	return []extent{{0, size}}
}

// total is how many bytes there are in the parts.
func total(parts []extent) (n int64) {
	for _, part := range parts {
		n += part.end - part.off
	}
	return n
}

// aligned is the parts with their bounds moved outward to what direct I/O takes, within
// the size of the file; those that touch then are one.
func aligned(parts []extent, size int64) (out []extent) {
	for _, part := range parts {
		part = extent{part.off &^ (align - 1), min(roundUp(part.end), size)}
		if last := len(out) - 1; last >= 0 && part.off <= out[last].end {
			out[last].end = max(out[last].end, part.end)
		} else if part.off < part.end {
			out = append(out, part)
		}
	}
	return out
}

// zero reports whether all bytes are zero.
func zero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}
