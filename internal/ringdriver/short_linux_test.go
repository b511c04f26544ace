package ringdriver

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

// Law: a direct read that ends between two blocks is not taken for the end of the file: another
// engine looks, which can read a part of a block.
func TestAShortDirectReadIsNotTheEndOfTheFile(t *testing.T) {
	d := newDriver(t, Config{Slots: 4, Tamper: func(op *fileop.Op, res int32) int32 {
		if op.Kind == fileop.Read {
			return min(res, 1000)
		}
		return res
	}})
	f := file(t, make([]byte, 8192))
	f.Direct, f.DirectMem, f.DirectOff = true, 512, 512
	memory := make([]byte, 8192+512)
	shift := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % 512
	op := &fileop.Op{Kind: fileop.Read, Full: true, File: f, Buf: memory[shift : shift+8192]}
	d.Do(bg, op)
	require.ErrorIs(t, op.Err, ErrUnserved)
	require.EqualValues(t, 1000, op.N)
}
