package work

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Sector is the part of a file that begins with its own offset.
const Sector = 512

// page is after how many bytes the words repeat, but for the first one of each sector.
const page = 4096

// Pattern is what a file holds: the first word of each sector is its offset, so that a
// sector in the wrong place is found, and each other word is made of its offset in the
// page, so that a damaged one is. A buffer that was filled once can be written anywhere
// after Stamp, which costs what fio's scramble_buffers does.
type Pattern struct{ words [page]byte }

// NewPattern makes it.
func NewPattern() *Pattern {
	p := new(Pattern)
	for i := 0; i < page; i += 8 {
		binary.LittleEndian.PutUint64(p.words[i:], uint64(i+1)*0x9E3779B97F4A7C15)
	}
	return p
}

// Fill makes the buffer what the file holds at an offset, a multiple of 4096 as its
// length is.
func (p *Pattern) Fill(buf []byte, off int64) {
	for i := 0; i < len(buf); i += page {
		copy(buf[i:], p.words[:])
	}
	p.Stamp(buf, off)
}

// Stamp moves a filled buffer to another offset.
func (p *Pattern) Stamp(buf []byte, off int64) {
	for i := 0; i < len(buf); i += Sector {
		binary.LittleEndian.PutUint64(buf[i:], uint64(off)+uint64(i))
	}
}

// Check compares every word.
func (p *Pattern) Check(buf []byte, off int64) error {
	for i := 0; i+Sector <= len(buf); i += Sector {
		in := i % page
		if binary.LittleEndian.Uint64(buf[i:]) != uint64(off)+uint64(i) ||
			!bytes.Equal(buf[i+8:i+Sector], p.words[in+8:in+Sector]) {
			return p.wrong(buf[i:i+Sector], off+int64(i), in)
		}
	}
	return nil
}

// CheckFirst compares the first sector.
func (p *Pattern) CheckFirst(buf []byte, off int64) error { return p.Check(buf[:Sector], off) }

// wrong names the first word that is.
func (p *Pattern) wrong(sector []byte, off int64, in int) error {
	want := uint64(off)
	for j := 0; j < len(sector); j += 8 {
		if j > 0 {
			want = binary.LittleEndian.Uint64(p.words[in+j:])
		}
		if got := binary.LittleEndian.Uint64(sector[j:]); got != want {
			return fmt.Errorf("wrong data at offset %d: %#016x, not %#016x", off+int64(j), got, want)
		}
	}
	return nil
}
