package slab

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsAlignedAndWritable(t *testing.T) {
	for _, need := range []int{1, 4096, HugePage - 1, HugePage, HugePage + 1} {
		m, err := Map(need, 8192)
		require.NoError(t, err)
		if p := uintptr(unsafe.Pointer(&m.Bytes[0])); p%8192 != 0 || len(m.Bytes) != need || cap(m.Bytes) != need {
			t.Errorf("%d: at %#x, %d bytes of %d", need, p, len(m.Bytes), cap(m.Bytes))
		}
		m.Bytes[0], m.Bytes[need-1] = 1, 1
		require.NoError(t, m.Free())
		require.NoError(t, m.Free())
	}
}
