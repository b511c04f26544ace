package file_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/ioerr"
)

// faulty opens the memory of the process, in which pages from start on are data, but for
// the one with the number bad: there a read fails with EIO.
func faulty(t *testing.T, p *file.Pool, pages, bad int) (f *file.File, start int64, data []byte) {
	t.Helper()
	const page = 4096
	memory, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	data = noise(pages * page)
	copy(memory, data)
	_, _, errno := syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(&memory[bad*page])), page, 0)
	require.Zero(t, errno)
	t.Cleanup(func() {
		_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(&memory[0])), uintptr(bad*page), 0)
		if bad < pages-1 {
			_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(&memory[(bad+1)*page])), uintptr((pages-bad-1)*page), 0)
		}
	})
	f, err = p.Open(t.Context(), "/proc/self/mem", os.O_RDONLY, 0)
	require.NoError(t, err)
	return f, int64(uintptr(unsafe.Pointer(&memory[0]))), data
}

func TestWhatComesBeforeAFaultyPlaceIsReadFirst(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		for bad := 1; bad < 8; bad++ {
			f, start, data := faulty(t, p, 8, bad)
			for i, c := range []file.StreamConfig{{BufferSize: 4096}, {BufferSize: 3000, Depth: 2}, {BufferSize: 10_000}, {Depth: 1}} {
				c.Offset = start
				r := newReader(t, f, c.Slow((bad+i)%2 == 0))
				var got bytes.Buffer
				_, err := io.Copy(&got, r)
				if !bytes.Equal(got.Bytes(), data[:bad*4096]) {
					t.Errorf("page %d, %+v: %d bytes", bad, c, got.Len())
				}
				e, ok := errors.AsType[*file.OffsetError](err)
				if !ok || e.Offset != start+int64(bad)*4096 || !errors.Is(err, syscall.EIO) {
					t.Errorf("page %d: %v", bad, err)
				}
				if _, again := r.Read(make([]byte, 1)); again != err {
					t.Error(again)
				}
				place, err := r.Seek(start+int64(bad+1)*4096, io.SeekStart)
				require.NoError(t, err)
				if bad < 7 {
					one, err := r.ReadByte()
					require.NoError(t, err)
					require.Equal(t, data[place-start], one)
				}
			}
		}
	})
}

func TestAFaultyPlaceHarmsOnlyThoseOfManyReadsThatNeedIt(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		f, start, data := faulty(t, p, 8, 3)
		var reqs []file.ReadRequest
		for at := 0; at < 8*4096; at += 1024 {
			reqs = append(reqs, file.ReadRequest{File: f, Offset: start + int64(at), Length: 1024})
		}
		reqs = append(reqs, file.ReadRequest{File: f, Offset: start + 2*4096, Length: 3 * 4096})
		for i, got := range p.ReadMany(t.Context(), reqs, file.ReadManyConfig{MaxGap: 10_000}) {
			at := reqs[i].Offset - start
			if at+int64(reqs[i].Length) <= 3*4096 || at >= 4*4096 {
				if got.Err != nil || !bytes.Equal(got.Data, data[at:][:reqs[i].Length]) {
					t.Errorf("%d: %d bytes, %v", i, len(got.Data), got.Err)
				}
				continue
			}
			e, ok := errors.AsType[*file.OffsetError](got.Err)
			if !ok || e.Offset != start+max(at, 3*4096) || !errors.Is(got.Err, syscall.EIO) || !bytes.Equal(got.Data, data[at:][:len(got.Data)]) {
				t.Errorf("%d: %v", i, got.Err)
			}
		}
	})
}

// limitFiles makes writes beyond so many bytes of any file fail with EFBIG.
func limitFiles(t *testing.T, size uint64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}))
	t.Cleanup(func() {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
		signal.Reset(syscall.SIGXFSZ)
	})
}

func TestAWriterTellsWhereItFailed(t *testing.T) {
	const limit, child = 20_480, "IOLANE_LIMITED_CHILD"
	if os.Getenv(child) == "" { // the limit is of the process, whose own log would meet it
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	limitFiles(t, limit)
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		bothWays(t, func(t *testing.T, direct int) {
			defer nothingLeft(t)()
			b := newBuffers(t, 4, 8192)
			data := noise(60_000)
			for _, c := range []file.StreamConfig{{BufferSize: 4096}, file.StreamConfig{BufferSize: 4096}.Slow(true), file.StreamConfig{Buffers: b}.Slow(true), {Depth: 1}, {BufferSize: 16_384, Offset: 4096}} {
				f, err := p.Open(t.Context(), filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE|direct, 0o600)
				if err != nil {
					t.Skip("no direct I/O here: ", err)
				}
				w, err := file.NewWriter(t.Context(), f, c)
				require.NoError(t, err)
				_, _ = w.Write(data)
				err = w.Close()
				e, ok := errors.AsType[*file.OffsetError](err)
				if told, _ := errors.AsType[*ioerr.Error](err); !ok || e.Offset != limit || !errors.Is(err, syscall.EFBIG) || told.Origin != ioerr.Leaf {
					t.Errorf("%+v: %v", c, err)
				}
				got, err := os.ReadFile(f.Name())
				require.NoError(t, err)
				if !bytes.Equal(got[c.Offset:], data[:limit-c.Offset]) {
					t.Errorf("%+v: %d bytes", c, len(got))
				}
				require.Zero(t, b.Out())
			}
		})
	})
}
