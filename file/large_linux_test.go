//go:build amd64 || arm64

package file_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
)

const (
	atOnce = 0x7ffff000 // what Linux transfers at a time, at most
	gib    = int64(1) << 30
)

// memoryDir is a directory of a file system in memory, if there is one: its holes cost no time.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "large") //nolint:usetesting // that of the test may be on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// sparse is a file with these bytes at each border, and holes between them.
func sparse(t *testing.T, p *file.Pool, dir string, size int64, borders []int64, mark func(at int64) []byte) *file.File {
	t.Helper()
	f, err := p.Create(t.Context(), filepath.Join(dir, "sparse"))
	require.NoError(t, err)
	if err := f.Truncate(t.Context(), size); err != nil {
		t.Skip("no files of that size here: ", err)
	}
	for _, at := range borders {
		_, err := f.WriteAt(t.Context(), mark(at), at)
		require.NoError(t, err)
	}
	return f
}

// Law: what is beyond 2 and 4 GiB is transferred there and not elsewhere.
func TestOffsetsBeyond4GiB(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		borders := []int64{0, 2*gib - 8, 4*gib - 8, 4*gib + 4096, 5 * gib, 1<<40 - 8}
		mark := func(at int64) []byte {
			return []byte{1, byte(at >> 40), byte(at >> 32), byte(at >> 24), byte(at), 2, 3, 4, 5, 6}
		}
		f := sparse(t, p, t.TempDir(), 1<<40+100, borders, mark)
		ctx := t.Context()
		buf := make([]byte, 10)
		for _, at := range borders {
			n, err := f.ReadAt(ctx, buf, at)
			require.NoError(t, err)
			require.Equal(t, mark(at), buf[:n], at)
			half, rest := make([]byte, 4), make([]byte, 6)
			_, err = f.Readv(ctx, [][]byte{half, rest}, at)
			require.NoError(t, err)
			require.Equal(t, mark(at), slices.Concat(half, rest))
			_, err = f.Writev(ctx, [][]byte{mark(at)[:3], mark(at)[3:]}, at+20)
			require.NoError(t, err)
			r, err := file.NewReader(ctx, f, file.StreamConfig{Offset: at + 20, Limit: 10, BufferSize: 3})
			require.NoError(t, err)
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, mark(at), got)
			require.NoError(t, r.Close())
		}
		n, err := f.ReadAt(ctx, buf, 1<<40+95)
		require.Equal(t, io.EOF, err)
		require.Equal(t, 5, n)
		_, err = f.CopyRange(ctx, 6*gib, f, 1<<40-8, 10)
		require.NoError(t, err)
		_, err = f.ReadAt(ctx, buf, 6*gib)
		require.NoError(t, err)
		require.Equal(t, mark(1<<40-8), buf)
	})
}

// huge is memory that only costs what is touched.
func huge(t *testing.T, size int64) []byte {
	t.Helper()
	const noReserve = 0x4000
	m, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|noReserve)
	if err != nil {
		t.Skip("no address space: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(m)) })
	return m
}

// sharedPage maps one page of a file many times in a row: so long a buffer takes up no memory.
func sharedPage(t *testing.T, size int64) []byte {
	t.Helper()
	const piece = 1 << 20
	m := huge(t, size)
	page, err := os.CreateTemp(memoryDir(t), "page")
	require.NoError(t, err)
	defer page.Close()
	require.NoError(t, page.Truncate(piece))
	const fixed = 0x10
	for at := int64(0); at < size; at += piece {
		p := uintptr(unsafe.Pointer(&m[at]))
		_, _, e := syscall.Syscall6(syscall.SYS_MMAP, p, uintptr(min(piece, size-at)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|fixed, page.Fd(), 0)
		require.Zero(t, e)
	}
	return m
}

// Law: one transfer longer than the system makes at a time is done to its end if it is Full, and says how far it
// came if not.
func TestATransferLongerThanTheSystemMakesAtATime(t *testing.T) {
	if os.Getenv("IOLANE_STRESS") == "" {
		t.Skip("it moves some GiB: a stress run does")
	}
	const size = atOnce + 8192
	m := sharedPage(t, size)
	for _, k := range kinds() {
		if k.name != "threads" && k.name != "ring" {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			l, err := k.make()
			require.NoError(t, err)
			p := newPool(t, file.Config{Lane: l, OwnsLane: true})
			ctx := context.Background()
			mark := func(at int64) []byte { return []byte{7, byte(at >> 24), byte(at), 9} }
			const tail = atOnce + 4096 // in the second transfer
			f := sparse(t, p, memoryDir(t), size, []int64{0, atOnce - 2, tail}, mark)

			n, err := f.ReadAt(ctx, m, 0)
			require.NoError(t, err)
			require.Equal(t, size, n)
			require.Equal(t, mark(tail), m[tail:][:4], "of what was read last")

			once := file.Pread(f, m, 0)
			require.NoError(t, p.Do(ctx, &once))
			if once.N != atOnce && (once.N != size || !k.ring) { // what is in the page cache is read at once
				t.Error(once.N)
			}

			vector := file.Readv(f, [][]byte{m[:size/2], m[size/2:]}, 0)
			require.NoError(t, p.Do(ctx, &vector))
			require.EqualValues(t, size, vector.N)
			require.Equal(t, mark(tail), m[tail:][:4])
		})
	}
}

// Law: the same of a write. The device looks at none of it, so it costs no time.
func TestAWriteLongerThanTheSystemMakesAtATime(t *testing.T) {
	const size = atOnce + 8192
	m := sharedPage(t, size)
	for _, k := range kinds() {
		if k.name != "threads" && k.name != "ring" {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			l, err := k.make()
			require.NoError(t, err)
			p := newPool(t, file.Config{Lane: l, OwnsLane: true})
			f, err := p.Open(t.Context(), os.DevNull, os.O_RDWR, 0)
			require.NoError(t, err)
			n, err := f.Write(context.Background(), m) // in several transfers, none of which moves a byte of memory
			require.NoError(t, err)
			require.Equal(t, size, n)
			op := file.Writev(f, [][]byte{m[:100], m[100:]}, 0)
			op.Off = -1 // the file's own position
			require.NoError(t, p.Do(context.Background(), &op))
			require.EqualValues(t, size, op.N)
		})
	}
}
