package file_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
)

// bomb is a context that panics when it is asked for the n-th time.
type bomb struct {
	context.Context
	left atomic.Int64
}

func (b *bomb) tick() {
	if b.left.Add(-1) == 0 {
		panic("bomb")
	}
}

func (b *bomb) Done() <-chan struct{} {
	b.tick()
	return b.Context.Done()
}

func (b *bomb) Err() error {
	b.tick()
	return b.Context.Err()
}

// openIn is which descriptors are open of files in a directory.
func openIn(dir string) (names []string) {
	all, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range all {
		if name, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(name, dir) {
			names = append(names, name)
		}
	}
	return names
}

// Law: a context that panics, whenever that is, costs no descriptor and no slot, and the
// pool and its lane go on and come to their end.
func TestAContextThatPanicsCostsNoDescriptorAndNoSlot(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		dir := t.TempDir()
		name := filepath.Join(dir, "f")
		f, g := create(t, p, name, numbered(2)), create(t, p, filepath.Join(dir, "g"), numbered(2))
		for _, do := range []func(context.Context){
			func(ctx context.Context) { _, _ = f.ReadAt(ctx, make([]byte, 10), 0) },
			func(ctx context.Context) { _, _ = g.CopyRange(ctx, 0, f, 0, 100) },
			func(ctx context.Context) {
				_ = p.DoAll(ctx, []file.Op{file.ReadAt(f, make([]byte, 10), 0), file.Stat(f), file.CopyRange(g, 0, f, 0, 10)})
			},
			func(ctx context.Context) {
				if h, err := p.Open(ctx, name, os.O_RDONLY, 0); err == nil {
					_ = h.Close(ctx)
				}
			},
			func(ctx context.Context) {
				_ = p.Fiber(ctx, func(ctx context.Context) error {
					_, err := f.ReadAt(ctx, make([]byte, 10), 0)
					return err
				})
			},
		} {
			for n := range int64(25) {
				func() {
					defer func() { _ = recover() }()
					inner, cancel := context.WithCancel(context.Background())
					defer cancel()
					b := &bomb{Context: inner}
					b.left.Store(n + 1)
					do(b)
				}()
			}
		}
		running(t, p, 0)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, f.Close(ctx))
		require.NoError(t, g.Close(ctx))
		require.NoError(t, p.Shutdown(ctx))
		require.Empty(t, openIn(dir))
	})
}
