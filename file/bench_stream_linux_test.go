package file_test

// Streams beside what package os does for the same. The names read
// workload/page cache or not/side. Every side moves blocks of 128 KiB, and uses
// what it has read: one sum over all bytes, as a checksum would.

import (
	"context"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
)

const benchSize = 64 << 20

// plain hides what else a reader or writer can do, so that io.Copy goes through a buffer.
type (
	plainReader struct{ io.Reader }
	plainWriter struct{ io.Writer }
)

// sum is a sink that looks at what it gets.
type sum struct{ crc uint32 }

func (s *sum) Write(p []byte) (int, error) {
	s.crc = crc32.Update(s.crc, crc32.MakeTable(crc32.Castagnoli), p)
	return len(p), nil
}

// nothing is a sink that does not.
type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

func aligned(size int) []byte {
	room := make([]byte, size+4096)
	return room[-uintptr(unsafe.Pointer(&room[0]))%4096:][:size:size]
}

func benchLanes(b *testing.B, run func(b *testing.B, p *file.Pool)) {
	for name, l := range map[string]func() (lane.Lane, error){
		"threads": func() (lane.Lane, error) { return lane.NewThreads(lane.Config{Workers: 8}) },
		"ring":    func() (lane.Lane, error) { return lane.NewRing(lane.RingConfig{}) },
	} {
		b.Run(name, func(b *testing.B) {
			l, err := l()
			require.NoError(b, err)
			p, err := file.NewPool(file.Config{Lane: l, OwnsLane: true})
			require.NoError(b, err)
			defer p.Close()
			run(b, p)
		})
	}
}

func benchWays(b *testing.B, run func(b *testing.B, direct int)) {
	b.Run("cached", func(b *testing.B) { run(b, 0) })
	if direct := file.Direct; direct != 0 {
		b.Run("direct", func(b *testing.B) { run(b, syscall.O_DIRECT) })
	}
}

func BenchmarkStreamRead(b *testing.B) {
	for what, sink := range map[string]io.Writer{"discard": nothing{}, "crc": new(sum)} {
		b.Run(what, func(b *testing.B) {
			benchWays(b, func(b *testing.B, direct int) {
				name := filepath.Join(b.TempDir(), "from")
				require.NoError(b, os.WriteFile(name, noise(benchSize), 0o600))
				b.Run("os", func(b *testing.B) {
					f, err := os.OpenFile(name, os.O_RDONLY|direct, 0)
					if err != nil {
						b.Skip(err)
					}
					defer f.Close()
					buf := aligned(128 << 10)
					b.SetBytes(benchSize)
					for b.Loop() {
						_, _ = f.Seek(0, io.SeekStart)
						n, err := io.CopyBuffer(plainWriter{sink}, plainReader{f}, buf)
						if n != benchSize || err != nil {
							b.Fatal(n, err)
						}
					}
				})
				benchLanes(b, func(b *testing.B, p *file.Pool) {
					flag := 0
					if direct != 0 {
						flag = file.Direct
					}
					f, err := p.Open(b.Context(), name, os.O_RDONLY|flag, 0)
					if err != nil {
						b.Skip(err)
					}
					b.SetBytes(benchSize)
					b.ReportAllocs()
					for b.Loop() {
						r, err := file.NewReader(context.Background(), f, file.StreamConfig{})
						require.NoError(b, err)
						n, err := r.WriteTo(sink)
						if n != benchSize || err != nil {
							b.Fatal(n, err)
						}
						_ = r.Close()
					}
				})
			})
		})
	}
}

func BenchmarkStreamCopy(b *testing.B) {
	benchWays(b, func(b *testing.B, direct int) {
		from, to := filepath.Join(b.TempDir(), "from"), filepath.Join(b.TempDir(), "to")
		require.NoError(b, os.WriteFile(from, noise(benchSize), 0o600))
		require.NoError(b, os.WriteFile(to, noise(benchSize), 0o600))
		b.Run("os", func(b *testing.B) {
			src, err := os.OpenFile(from, os.O_RDONLY|direct, 0)
			if err != nil {
				b.Skip(err)
			}
			defer src.Close()
			dst, err := os.OpenFile(to, os.O_WRONLY|direct, 0)
			require.NoError(b, err)
			defer dst.Close()
			buf := aligned(128 << 10)
			b.SetBytes(benchSize)
			for b.Loop() {
				_, _ = src.Seek(0, io.SeekStart)
				_, _ = dst.Seek(0, io.SeekStart)
				n, err := io.CopyBuffer(plainWriter{dst}, plainReader{src}, buf)
				if n != benchSize || err != nil {
					b.Fatal(n, err)
				}
			}
		})
		benchLanes(b, func(b *testing.B, p *file.Pool) {
			flag := 0
			if direct != 0 {
				flag = file.Direct
			}
			src, err := p.Open(b.Context(), from, os.O_RDONLY|flag, 0)
			if err != nil {
				b.Skip(err)
			}
			dst, err := p.Open(b.Context(), to, os.O_WRONLY|flag, 0)
			require.NoError(b, err)
			b.SetBytes(benchSize)
			b.ReportAllocs()
			for b.Loop() {
				r, err := file.NewReader(context.Background(), src, file.StreamConfig{})
				require.NoError(b, err)
				w, err := file.NewWriter(context.Background(), dst, file.StreamConfig{})
				require.NoError(b, err)
				n, err := io.Copy(w, r)
				if n != benchSize || err != nil {
					b.Fatal(n, err)
				}
				_ = r.Close()
				require.NoError(b, w.Close())
			}
		})
	})
}

// BenchmarkReadMany reads 1,024 pieces of 4 KiB out of 4,096 in a random order.
func BenchmarkReadMany(b *testing.B) {
	benchWays(b, func(b *testing.B, direct int) {
		name := filepath.Join(b.TempDir(), "from")
		require.NoError(b, os.WriteFile(name, noise(16<<20), 0o600))
		places := rand.New(rand.NewPCG(1, 2)).Perm(4096)[:1024]
		b.Run("os", func(b *testing.B) {
			f, err := os.OpenFile(name, os.O_RDONLY|direct, 0)
			if err != nil {
				b.Skip(err)
			}
			defer f.Close()
			buf := aligned(4096)
			b.SetBytes(4 << 20)
			for b.Loop() {
				for _, i := range places {
					if _, err := f.ReadAt(buf, int64(i)*4096); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		benchLanes(b, func(b *testing.B, p *file.Pool) {
			flag := 0
			if direct != 0 {
				flag = file.Direct
			}
			f, err := p.Open(b.Context(), name, os.O_RDONLY|flag, 0)
			if err != nil {
				b.Skip(err)
			}
			reqs := make([]file.ReadRequest, len(places))
			for i, at := range places {
				reqs[i] = file.ReadRequest{File: f, Offset: int64(at) * 4096, Length: 4096}
			}
			for how, c := range map[string]file.ReadManyConfig{"merged": {}, "gaps": {MaxGap: 16 << 10}, "single": {MaxMerged: 1}} {
				b.Run(how, func(b *testing.B) {
					b.SetBytes(4 << 20)
					b.ReportAllocs()
					for b.Loop() {
						for i, got := range p.ReadMany(context.Background(), reqs, c) {
							if got.Err != nil {
								b.Fatal(i, got.Err)
							}
						}
					}
				})
			}
		})
	})
}
