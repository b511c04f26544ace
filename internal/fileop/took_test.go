package fileop_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// result is what one system call returns.
type result struct {
	n   int
	err error
}

func TestTheEndOfATransfer(t *testing.T) {
	ten := make([]byte, 10)
	read, write := fileop.Op{Kind: fileop.Read, Buf: ten}, fileop.Op{Kind: fileop.Write, Buf: ten}
	fullRead, fullWrite := read, write
	fullRead.Full, fullWrite.Full = true, true
	fullCopy := fileop.Op{Kind: fileop.CopyRange, Full: true, Len: 10}
	for _, tc := range []struct {
		name    string
		op      fileop.Op
		results []result
		n       int64
		err     error
	}{
		{"a plain read", read, []result{{10, nil}}, 10, nil},
		{"a short plain read", read, []result{{3, nil}}, 3, nil},
		{"a plain read at the end", read, []result{{0, nil}}, 0, nil},
		{"a plain read that fails", read, []result{{0, syscall.EIO}}, 0, syscall.EIO},
		{"a short plain write", write, []result{{3, nil}}, 3, nil},
		{"a full read in one", fullRead, []result{{10, nil}}, 10, nil},
		{"a full read in pieces", fullRead, []result{{3, nil}, {1, nil}, {6, nil}}, 10, nil},
		{"a full read up to the end", fullRead, []result{{3, nil}, {0, nil}}, 3, nil},
		{"a full read that fails", fullRead, []result{{3, nil}, {0, syscall.EIO}}, 3, syscall.EIO},
		{"a full read called off", fullRead, []result{{3, nil}, {0, fileop.ErrCancelled}}, 3, fileop.ErrCancelled},
		{"a full read called off before", fullRead, []result{{0, fileop.ErrCancelled}}, 0, fileop.ErrCancelled},
		{"a full write in pieces", fullWrite, []result{{3, nil}, {7, nil}}, 10, nil},
		{"a full write without room", fullWrite, []result{{3, nil}, {0, syscall.ENOSPC}}, 3, syscall.ENOSPC},
		{"a full write that goes nowhere", fullWrite, []result{{3, nil}, {0, nil}}, 3, io.ErrShortWrite},
		{"a full copy in pieces", fullCopy, []result{{3, nil}, {7, nil}}, 10, nil},
		{"a full copy up to the end", fullCopy, []result{{3, nil}, {0, nil}}, 3, nil},
		{"an empty full read", fileop.Op{Kind: fileop.Read, Full: true}, []result{{0, nil}}, 0, nil},
		{"an empty full write", fileop.Op{Kind: fileop.Write, Full: true}, []result{{0, nil}}, 0, nil},
		{"a descriptor", fileop.Op{Kind: fileop.Open}, []result{{7, nil}}, 7, nil},
		{"no descriptor", fileop.Op{Kind: fileop.Open}, []result{{-1, syscall.ENOENT}}, 0, syscall.ENOENT},
		{"a full fsync, which there is not", fileop.Op{Kind: fileop.Fsync, Full: true}, []result{{0, nil}}, 0, nil},
	} {
		op := tc.op
		for i, r := range tc.results {
			if ended := op.Took(r.n, r.err); ended != (i == len(tc.results)-1) {
				t.Errorf("%s: ended %v after %d", tc.name, ended, i+1)
			}
		}
		if op.N != tc.n || !errors.Is(op.Err, tc.err) {
			t.Errorf("%s: %d, %v; want %d, %v", tc.name, op.N, op.Err, tc.n, tc.err)
		}
	}
}

// pieces cuts p at random places; some pieces are empty.
func pieces(p []byte) (bufs [][]byte) {
	bufs = [][]byte{}
	for len(p) > 0 {
		n := rand.IntN(len(p) + 1)
		bufs, p = append(bufs, p[:n:n]), p[n:]
	}
	return bufs
}

// The naive model: bytes move one by one, each knows where it belongs.
func TestAFullTransferMovesEachByteOnceToItsPlace(t *testing.T) {
	for range 20000 {
		want := random(rand.IntN(40))
		got := make([]byte, len(want))
		op := fileop.Op{Kind: fileop.Read, Full: true, Buf: got, Off: rand.Int64N(1 << 40)}
		var before [][]byte
		if rand.IntN(2) == 0 {
			op.More = &fileop.More{Bufs: pieces(got)}
			op.Buf = nil
			before = append(before, op.More.Bufs...)
		}
		moved, end, fails := 0, rand.IntN(len(want)+10), rand.IntN(30)
		for {
			if at := op.Offset() - op.Off; at != int64(moved) {
				t.Fatalf("goes on at %d after %d", at, moved)
			}
			n, err := min(rand.IntN(5), len(want)-moved, max(end-moved, 0)), error(nil)
			if fails--; fails == 0 {
				n, err = 0, syscall.EIO
			}
			move(&op, want[moved:moved+n])
			moved += n
			wantEnd := err != nil || moved == len(want) || n == 0
			if op.Took(n, err) != wantEnd {
				t.Fatalf("ended %v: %d of %d, %v", !wantEnd, moved, len(want), err)
			}
			if !wantEnd {
				continue
			}
			if op.N != int64(moved) || !errors.Is(op.Err, err) || !bytes.Equal(got[:moved], want[:moved]) {
				t.Fatalf("%d, %v: %x; want %d, %v: %x", op.N, op.Err, got, moved, err, want[:moved])
			}
			break
		}
		for i, b := range before {
			if len(b) != len(op.More.Bufs[i]) {
				t.Fatal("the caller's buffers were changed")
			}
		}
	}
}

// move copies to where the operation says that the next bytes belong.
func move(op *fileop.Op, from []byte) {
	if !op.Vectored() {
		copy(op.Rest(), from)
		return
	}
	for _, to := range op.Vectors() {
		from = from[copy(to, from):]
	}
}

func TestTheRestOfBuffersBeginsWithOneThatIsNotEmpty(t *testing.T) {
	for range 1000 {
		all := random(rand.IntN(20))
		op := fileop.Op{Kind: fileop.Write, More: &fileop.More{Bufs: pieces(all)}}
		op.N = int64(rand.IntN(len(all) + 1))
		rest := op.Vectors()
		if len(rest) > 0 && len(rest[0]) == 0 {
			t.Fatal("it is empty")
		}
		if !bytes.Equal(bytes.Join(rest, nil), all[op.N:]) {
			t.Fatal("other bytes")
		}
	}
}

func TestWhatHasNoOffsetsGoesOnWhereItIs(t *testing.T) {
	for _, op := range []fileop.Op{
		{Kind: fileop.Read, Off: fileop.AtPosition, N: 5},
		{Kind: fileop.Write, Append: true, Off: 7, N: 5},
	} {
		if off := op.Offset(); off != fileop.AtPosition {
			t.Errorf("at %d", off)
		}
	}
}
