package ringdriver

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/internal/rawio"
)

// Advice to the kernel.
const (
	random   = 1 // do not read ahead
	dontNeed = 4
)

// coldFile is a file of which nothing is in the page cache after cool.
type coldFile struct {
	*fileop.File
	t       testing.TB
	content []byte
}

func newColdFile(t testing.TB, size int) *coldFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cold")
	content := pattern(size)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	require.NoError(t, f.Sync())
	c := &coldFile{&fileop.File{FD: f.Fd(), Seeks: true}, t, content}
	require.NoError(t, rawio.Advise(nil, f.Fd(), 0, 0, random))
	return c
}

func (c *coldFile) cool() {
	if err := rawio.Advise(nil, c.FD, 0, 0, dontNeed); err != nil {
		c.t.Error(err)
	}
}

// read is an operation that reads block i.
func (c *coldFile) read(i, size int) *fileop.Op {
	return &fileop.Op{Kind: fileop.Read, File: c.File, Buf: make([]byte, size), Off: int64(i * size), Full: true}
}

func (c *coldFile) check(op *fileop.Op) {
	if op.Err != nil || op.N != int64(len(op.Buf)) || !slices.Equal(op.Buf, c.content[op.Off:op.Off+op.N]) {
		c.t.Errorf("at %d: %d bytes, %v", op.Off, op.N, op.Err)
	}
}

// grow makes the stack of the caller grow, and so move.
func grow(n int) byte {
	var room [512]byte
	room[n%512] = byte(n)
	if n > 0 {
		room[0] += grow(n - 1)
	}
	return room[n%512]
}

// Law: the memory that the kernel writes to lives until the operation has ended, also if
// nobody else knows it, and no other memory is written to.
func TestMemoryLivesUntilTheOperationHasEnded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	d := newDriver(t, Config{Slots: 32})
	f := newColdFile(t, 1<<20)
	// Data that lives meanwhile, among the buffers.
	live := make([][]byte, 500)
	sums := make([]uint32, len(live))
	for i := range live {
		live[i] = make([]byte, 64<<(i%7))
		for j := range live[i] {
			live[i][j] = byte(rand.Uint32())
		}
		sums[i] = crc32.ChecksumIEEE(live[i])
	}
	n := rounds(100, 1000)
	var all sync.WaitGroup
	for i := range 16 {
		work := func(ctx context.Context, do func(context.Context, *fileop.Op)) {
			for j := range n {
				op := f.read((i*n+j)*7%256, 4096)
				var stack [64]byte // what is on the stack of a caller must not matter
				small := &fileop.Op{Kind: fileop.Read, File: f.File, Buf: stack[:], Off: int64(j)}
				own, cancel := context.WithTimeout(ctx, time.Duration(j%50)*20*time.Microsecond)
				if j%2 == 0 {
					own = ctx
				}
				do(own, op)
				cancel()
				grow(j % 64)
				do(ctx, small)
				f.check(small)
				if j%2 == 0 {
					f.check(op)
				}
				if j%10 == 0 {
					f.cool()
				}
			}
		}
		all.Go(func() { work(bg, d.Do) })
		all.Go(func() { d.Run(bg, nil, func(ctx context.Context) { work(ctx, On(ctx).Do) }) })
	}
	all.Wait()
	for i := range live {
		if crc32.ChecksumIEEE(live[i]) != sums[i] {
			t.Error("live data has changed")
		}
	}
}

// Law: while an operation is in flight its request alone keeps its buffer.
func TestTheRequestKeepsTheBuffer(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	d := newDriver(t, Config{Slots: 4})
	p := newPipe(t)
	r := newRequest()
	func() {
		r.use(sliceOf(p.read(1<<16)), nil, 1, nil)
		d.send(&r.begin)
	}()
	flying(t, d, 1)
	var litter [][]byte
	for range 50 {
		litter = append(litter, make([]byte, 1<<16))
		runtime.GC()
	}
	content := pattern(1 << 16)
	p.write(string(content))
	d.await(r)
	op := &r.ops[0]
	want(t, op, 1<<16, nil)
	require.Equal(t, content, op.Buf)
	for _, b := range litter {
		require.Zero(t, slices.Max(b))
	}
}

// Law: threads that operate and end at once spoil nobody's reads, however cold the data is.
func TestThreadsThatEndSpoilNoReads(t *testing.T) {
	d := newDriver(t, Config{Slots: 64, Workers: 4})
	const size = 16 << 10
	f := newColdFile(t, 8<<20)
	blocks := len(f.content) / size
	for round := range rounds(3, 40) {
		f.cool()
		var all sync.WaitGroup
		for i := range blocks {
			all.Go(func() {
				runtime.LockOSThread() // never unlocked: the thread ends
				op := f.read((i*13+round)%blocks, size)
				if i%4 != 0 {
					d.Do(bg, op)
				} else {
					d.Run(bg, nil, func(ctx context.Context) { On(ctx).Do(ctx, op) })
				}
				f.check(op)
			})
			if i%64 == 63 {
				all.Wait()
			}
		}
		all.Wait()
	}
	require.Less(t, d.Stats().Retries, d.Stats().Operations)
}

// Law: also pipes' reads survive the threads that the driver has been on.
func TestThreadsThatEndSpoilNoReadsOfPipes(t *testing.T) {
	d := newDriver(t, Config{Slots: 64})
	var gates []gate
	var reading, threads sync.WaitGroup
	for range 32 {
		g := newGate(t)
		gates = append(gates, g)
		reading.Go(func() { d.Do(bg, g.op) })
		for range 8 { // the driver gets onto threads that end
			threads.Go(func() {
				d.Do(bg, nop())
				runtime.LockOSThread()
				d.Do(bg, nop())
			})
		}
	}
	threads.Wait()
	flying(t, d, 32)
	for _, g := range gates {
		g.open()
	}
	reading.Wait()
	for _, g := range gates {
		want(t, g.op, 1, nil)
	}
}
