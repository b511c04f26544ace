package fileop_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// Law: a copy onto itself is refused before anything is copied, however long it is.
func TestACopyOntoItselfIsRefusedHoweverLongItIs(t *testing.T) {
	path := fileOf(t, nil)
	const long = 200 << 20 // more than the system is asked for at a time
	must(t, os.Truncate(path, long))
	f, same := open(t, path, os.O_RDWR), open(t, path, os.O_RDWR)
	for _, to := range []*fileop.File{f, same} {
		for _, at := range [][2]int64{{0, 100 << 20}, {100 << 20, 0}} {
			op := fileop.Op{Kind: fileop.CopyRange, Full: true, File: f, Off: at[0], Len: long, More: &fileop.More{File2: to, Off2: at[1]}}
			op.Do(t.Context(), nil)
			if op.Err != syscall.EINVAL || op.N != 0 {
				t.Errorf("%v: %d, %v", at, op.N, op.Err)
			}
		}
	}
}
