package ringdriver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
)

const errIO = syscall.EIO

// Law: what ends as interrupted, cancelled or with a fault, though nobody has called it off,
// is done again, and is right then.
func TestWhatIsLostWithItsThreadIsDoneAgain(t *testing.T) {
	content := pattern(4096)
	for _, e := range []int32{errINTR, errCANCELED, errFAULT} {
		t.Run(fmt.Sprint(e), func(t *testing.T) {
			lost := map[*fileop.Op]int{}
			d := newDriver(t, Config{Slots: 4, Tamper: func(op *fileop.Op, res int32) int32 {
				if lost[op]++; lost[op]%4 != 0 {
					return -e
				}
				return res
			}})
			f := file(t, content)
			ops := []fileop.Op{
				{Kind: fileop.Read, File: f, Buf: make([]byte, 100), Off: 50},
				{Kind: fileop.Write, File: f, Buf: content[7:14], Off: 7},
				{},
				*sleep(time.Millisecond),
			}
			began := time.Now()
			d.DoAll(bg, ops, nil, 2, nil)
			require.GreaterOrEqual(t, time.Since(began), time.Millisecond)
			want(t, &ops[0], 100, nil)
			require.Equal(t, content[50:150], ops[0].Buf)
			want(t, &ops[1], 7, nil)
			want(t, &ops[2], 0, nil)
			want(t, &ops[3], 0, nil)
			require.EqualValues(t, 12, d.Stats().Retries)
			require.EqualValues(t, 4, d.Stats().Operations)
		})
	}
}

// Law: that is done a bounded number of times, and then reported.
func TestWhatIsAlwaysLostIsReportedInTheEnd(t *testing.T) {
	for _, e := range []int32{errINTR, errCANCELED, errFAULT} {
		tries := 0
		d := newDriver(t, Config{Slots: 4, Tamper: func(op *fileop.Op, res int32) int32 {
			if op.Flags != 0 {
				return res
			}
			tries++
			return -e
		}})
		op := nop()
		d.Do(bg, op)
		want(t, op, 0, syscall.Errno(e))
		require.Equal(t, maxTries+1, tries)
		other := &fileop.Op{Flags: 1}
		d.Do(bg, other)
		want(t, other, 0, nil)
	}
}

// Law: a fault that nobody can explain ends an operation that was called off all the same.
func TestWhatIsLostAndCalledOffEnds(t *testing.T) {
	for _, e := range []int32{errINTR, errCANCELED, errFAULT} {
		ctx, cancel := context.WithCancel(bg)
		d := newDriver(t, Config{Slots: 4})
		g := newGate(t)
		asOwner(t, d, func() {
			d.tamper = func(op *fileop.Op, res int32) int32 {
				if op == g.op {
					return -e
				}
				return res
			}
		})
		var all sync.WaitGroup
		all.Go(func() { d.Do(ctx, g.op) })
		flying(t, d, 1)
		cancel()
		all.Wait()
		want(t, g.op, 0, fileop.ErrCancelled)
	}
}

// Law: after a short transfer a Full one goes on where it has stopped, and a plain one tells
// how far it came.
func TestShortTransfers(t *testing.T) {
	content := pattern(10000)
	for _, vectored := range []bool{false, true} {
		for _, full := range []bool{false, true} {
			for _, kind := range []fileop.Kind{fileop.Read, fileop.Write} {
				t.Run(fmt.Sprint(kind, " full:", full, " vectored:", vectored), func(t *testing.T) {
					const off, n = 1000, 500
					f := file(t, content)
					d := newDriver(t, Config{Slots: 4, Tamper: func(_ *fileop.Op, res int32) int32 { return min(res, 7) }})
					op := &fileop.Op{Kind: kind, File: f, Off: off, Full: full, Buf: make([]byte, n)}
					if kind == fileop.Write {
						slices.Reverse(op.Buf[:copy(op.Buf, content)])
					}
					if vectored {
						op.More = &fileop.More{Bufs: [][]byte{op.Buf[:10], op.Buf[10:10], op.Buf[10:300], op.Buf[300:]}}
					}
					d.Do(bg, op)
					moved := int64(7)
					if full {
						moved = n
					}
					want(t, op, moved, nil)
					now := make([]byte, n)
					_, err := syscall.Pread(int(f.FD), now, off)
					require.NoError(t, err)
					require.Equal(t, op.Buf[:moved], now[:moved])
				})
			}
		}
	}
}

// Law: no bytes are the end of the file, which is no error; and of a Full write that moves
// nothing, one.
func TestNoBytesAreTheEndOfTheFile(t *testing.T) {
	content := pattern(100)
	f := file(t, content)
	d := newDriver(t, Config{Slots: 4, Tamper: func(op *fileop.Op, res int32) int32 {
		if op.Kind == fileop.Write {
			return 0
		}
		return res
	}})
	for _, full := range []bool{false, true} {
		op := &fileop.Op{Kind: fileop.Read, File: f, Off: 90, Buf: make([]byte, 50), Full: full}
		d.Do(bg, op)
		want(t, op, 10, nil)
		op = &fileop.Op{Kind: fileop.Read, File: f, Off: 100, Buf: make([]byte, 50), Full: full}
		d.Do(bg, op)
		want(t, op, 0, nil)
		op = &fileop.Op{Kind: fileop.Write, File: f, Buf: make([]byte, 50), Full: full}
		d.Do(bg, op)
		want(t, op, 0, map[bool]error{true: io.ErrShortWrite}[full])
	}
}

// Law: what the kernel says of the data is told as it is, with what was moved before; what it
// does not do is left to others.
func TestErrorsOfTheKernel(t *testing.T) {
	content := pattern(1000)
	for e, told := range map[syscall.Errno]error{
		syscall.EIO: syscall.EIO, syscall.ENOSPC: syscall.ENOSPC, syscall.EDQUOT: syscall.EDQUOT, syscall.EBADF: syscall.EBADF,
		syscall.EPIPE: syscall.EPIPE, syscall.ESPIPE: syscall.ESPIPE, syscall.ETIME: syscall.ETIME,
		syscall.EINVAL: ErrRefused, syscall.ENOSYS: ErrRefused, syscall.EOPNOTSUPP: ErrRefused, syscall.EAGAIN: ErrUnserved,
	} {
		f := file(t, content)
		calls := 0
		d := newDriver(t, Config{Slots: 4, Tamper: func(_ *fileop.Op, res int32) int32 {
			if calls++; calls%2 == 1 {
				return min(res, 30)
			}
			return -int32(e)
		}})
		op := &fileop.Op{Kind: fileop.Read, File: f, Buf: make([]byte, 100), Full: true}
		d.Do(bg, op)
		want(t, op, 30, told)
		require.Equal(t, content[:30], op.Buf[:30])
		if left := errors.Is(told, ErrUnserved); left != errors.Is(op.Err, ErrUnserved) {
			t.Error(e, op.Err)
		}
		if n := d.Stats().Operations; errors.Is(told, ErrUnserved) != (n == 0) {
			t.Error(e, "counts as", n)
		}
	}
}

// Law: what the kernel itself says of a bad descriptor is told.
func TestABadDescriptor(t *testing.T) {
	d := newDriver(t, Config{Slots: 4})
	op := &fileop.Op{Kind: fileop.Read, File: &fileop.File{FD: 1 << 20}, Buf: make([]byte, 1)}
	d.Do(bg, op)
	want(t, op, 0, syscall.EBADF)
}
