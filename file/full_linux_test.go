package file_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
)

// Law: a write of nothing is what the system call makes of it.
func TestAWriteOfNothingIsThatOfTheSystem(t *testing.T) {
	fd, err := syscall.Open("/dev/full", syscall.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()
	_, full := syscall.Write(fd, nil)
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		f, err := p.Open(t.Context(), "/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		for _, op := range []file.Op{file.Write(f, nil), file.Write(f, []byte{}), file.WriteAt(f, nil, 0), file.Pwrite(f, nil, 0)} {
			if err := p.Do(t.Context(), &op); !errors.Is(err, full) {
				t.Errorf("%v, not %v", err, full)
			}
		}
		for _, op := range []file.Op{file.Append(f, nil), file.Writev(f, nil, 0), file.Writev(f, [][]byte{nil, {}}, 0)} {
			if err := p.Do(t.Context(), &op); err != nil { // pwritev(2) does not ask the device
				t.Error(err)
			}
		}
	})
}
