package fileop_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/iolane/iolane/internal/fileop"
)

// at returns size bytes at an address that is skip more than a multiple of 4096.
func at(skip, size int) []byte {
	room := make([]byte, size+2*4096)
	first := int(-uintptr(unsafe.Pointer(&room[0]))%4096) + skip
	return room[first : first+size : first+size]
}

func TestWhatIsAligned(t *testing.T) {
	narrow := fileop.File{Name: "f", Direct: true, DirectMem: 4, DirectOff: 512}
	unknown := fileop.File{Name: "f", Direct: true}
	for _, tc := range []struct {
		f    *fileop.File
		buf  []byte
		off  int64
		what string // that is not aligned
	}{
		{&fileop.File{}, at(1, 3), 5, ""},
		{&narrow, at(0, 512), 512, ""},
		{&narrow, at(4, 1024), 0, ""},
		{&narrow, at(4, 1024), 511, "offset"},
		{&narrow, at(4, 1023), 512, "length"},
		{&narrow, at(2, 512), 512, "memory"},
		{&narrow, at(4, 512), fileop.AtPosition, ""},
		{&narrow, at(2, 512), fileop.AtPosition, "memory"},
		{&narrow, nil, 512, ""},
		{&unknown, at(0, 4096), 8192, ""},
		{&unknown, at(512, 4096), 8192, "memory"},
		{&unknown, at(0, 512), 8192, "length"},
		{&unknown, at(0, 4096), 512, "offset"},
	} {
		if got := tc.f.Aligned(tc.buf, tc.off); got != (tc.what == "") {
			t.Errorf("%d bytes at %d: %v, want %q", len(tc.buf), tc.off, got, tc.what)
		}
		for _, op := range []fileop.Op{
			{Kind: fileop.Write, File: tc.f, Buf: tc.buf, Off: tc.off},
			{Kind: fileop.Write, File: tc.f, More: &fileop.More{Bufs: [][]byte{tc.buf}}, Off: tc.off},
		} {
			if got := op.NeedsBounce(); got != (tc.what != "") {
				t.Errorf("%d bytes at %d need a bounce: %v", len(tc.buf), tc.off, got)
			}
			if tc.what == "" {
				continue
			}
			op.Do(t.Context(), nil) // there is no such file: it must not come to a system call
			var bad *fileop.AlignmentError
			if !errors.As(op.Err, &bad) || bad.What != tc.what || bad.File != "f" {
				t.Errorf("%d bytes at %d: %v, want %q", len(tc.buf), tc.off, op.Err, tc.what)
			}
		}
	}
}

func TestAnUnalignedReadAtTheFilesOwnPositionIsRefused(t *testing.T) {
	op := fileop.Op{Kind: fileop.Read, File: &fileop.File{Direct: true}, Buf: at(0, 100), Off: fileop.AtPosition}
	op.Do(t.Context(), nil)
	if _, bad := errors.AsType[*fileop.AlignmentError](op.Err); !bad || op.N != 0 {
		t.Errorf("%d, %v", op.N, op.Err)
	}
}

// A device that takes aligned reads only, and likes to be short. The engine is that of a
// ring: it knows Bounce and Took.
func TestUnalignedReadsThroughShortAlignedOnes(t *testing.T) {
	for range 1000 {
		f := &fileop.File{Direct: true, DirectMem: 4 << rand.IntN(8), DirectOff: 512 << rand.IntN(4)}
		data := random(rand.IntN(20000))
		buf := at(rand.IntN(600), rand.IntN(12000))
		op := fileop.Op{
			Kind: fileop.Read, Full: rand.IntN(4) > 0, File: f, Buf: buf, Off: int64(rand.IntN(len(data) + 2000)),
		}
		if rand.IntN(2) == 0 {
			op.Buf, op.More = nil, &fileop.More{Bufs: pieces(buf)}
		}
		for ended := false; !ended; {
			if !op.NeedsBounce() {
				n := shortRead(data, f.DirectOff, op.Offset(), int(op.Left()))
				if n > 0 {
					move(&op, data[op.Offset():][:n])
				}
				ended = op.Took(n, nil)
				continue
			}
			b, err := op.Bounce()
			must(t, err)
			if !f.Aligned(b.Op.Buf, b.Op.Off) || b.Op.NeedsBounce() {
				t.Fatalf("%d bytes at %d are not aligned to %d", len(b.Op.Buf), b.Op.Off, f.DirectOff)
			}
			n := shortRead(data, f.DirectOff, b.Op.Off, len(b.Op.Buf))
			if n > 0 {
				copy(b.Op.Buf, data[b.Op.Off:][:n])
			}
			ended = b.Took(n, nil)
		}
		want := data[min(int(op.Off), len(data)):]
		want = want[:min(len(want), len(buf))]
		if op.Full && op.N != int64(len(want)) || op.Err != nil || !bytes.Equal(buf[:op.N], want[:op.N]) {
			t.Fatalf("%d bytes of %d at %d, %v", op.N, len(want), op.Off, op.Err)
		}
		if op.N == 0 && len(want) > 0 {
			t.Fatal("that is not the end of the file")
		}
	}
}

// shortRead is how much the device reads: blocks, or up to the end.
func shortRead(data []byte, block int, off int64, size int) int {
	left := max(len(data)-int(off), 0)
	if n := (rand.IntN(size/block+1) + 1) * block; n < size {
		return min(n, left)
	}
	return min(size, left)
}

func TestTheErrorOfABounceIsThatOfTheOperation(t *testing.T) {
	f := &fileop.File{Direct: true, DirectMem: 512, DirectOff: 512}
	op := fileop.Op{Kind: fileop.Read, Full: true, File: f, Buf: at(1, 1000), Off: 100}
	b, err := op.Bounce()
	must(t, err)
	if !b.Took(0, fileop.ErrCancelled) || !errors.Is(op.Err, fileop.ErrCancelled) || op.N != 0 {
		t.Errorf("%d, %v", op.N, op.Err)
	}
}
