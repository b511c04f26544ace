package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/file"
)

// Law: a read never shows another file, however often descriptors are closed and given out
// again while operations are called off: no operation outlives the hold on its file.
func TestAReadNeverShowsAnotherFile(t *testing.T) {
	onEachLane(t, func(t *testing.T, _ kind, p *file.Pool) {
		const files, size, rounds = 16, 8 << 10, 60
		dir := t.TempDir()
		name := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
		for i := range files {
			require.NoError(t, os.WriteFile(name(i), bytes.Repeat([]byte{byte(i + 1)}, size), 0o600))
		}
		var reads, calledOff atomic.Int64
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(worker), 77))
				for range rounds {
					i := random.IntN(files)
					if !readWhole(t, p, name(i), byte(i+1), size, random, &reads, &calledOff) {
						return
					}
				}
			})
		}
		stop := make(chan struct{})
		var pressure sync.WaitGroup
		pressure.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		})
		all.Wait()
		close(stop)
		pressure.Wait()
		require.Positive(t, reads.Load())
		t.Log(reads.Load(), "reads,", calledOff.Load(), "called off")
		require.Empty(t, openIn(dir))
	})
}

// readWhole opens a file, reads it from several goroutines of which some call it off, and
// closes it under some of them.
func readWhole(t *testing.T, p *file.Pool, name string, content byte, size int, random *rand.Rand, reads, calledOff *atomic.Int64) bool {
	ctx := context.Background()
	f, err := p.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		t.Error(err)
		return false
	}
	var all sync.WaitGroup
	for range 3 {
		limit := time.Duration(random.IntN(100)) * time.Microsecond
		off := int64(random.IntN(size))
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			if limit%2 == 0 {
				ctx = context.Background()
			}
			readDeep(t, 1+int(limit%20), func() {
				buf := make([]byte, 512)
				n, err := f.ReadAt(ctx, buf, off)
				if bytes.ContainsFunc(buf[:n], func(r rune) bool { return r != rune(content) }) {
					t.Errorf("%s shows %x", name, buf[:n])
				}
				if reads.Add(1); err != nil && !errors.Is(err, os.ErrClosed) {
					calledOff.Add(1)
				}
			})
		})
	}
	if random.IntN(2) == 0 {
		all.Wait()
	}
	if err := f.Close(ctx); err != nil {
		t.Error(err)
	}
	all.Wait()
	return true
}

// readDeep calls fn on a stack that has to grow.
func readDeep(t *testing.T, depth int, fn func()) {
	var frame [1 << 10]byte
	if frame[0] = byte(depth); depth == 0 {
		fn()
		return
	}
	readDeep(t, depth-1, fn)
	if frame[0] != byte(depth) {
		t.Error("the stack has changed")
	}
}
