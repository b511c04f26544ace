package fileop_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// A page that is in the cache, and the system call alone.
func BenchmarkPread(b *testing.B) {
	f := open(b, fileOf(b, random(4096)), syscall.O_RDONLY)
	page := make([]byte, 4096)
	op := fileop.Op{Kind: fileop.Read, File: f, Buf: page}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for _, way := range []struct {
		name string
		do   func()
	}{
		{"bare", func() { _, _ = syscall.Pread(int(f.FD), page, 0) }},
		{"Do", func() { op.Do(context.Background(), nil) }},
		{"Do, cancellable", func() { op.Do(ctx, nil) }},
		{"TryCached", func() { op.TryCached() }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				op.N = 0
				way.do()
			}
		})
	}
}
