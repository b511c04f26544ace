package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/semaphore"
)

// BenchmarkTree compares treesum with the program that one writes without a
// library: a walk, a goroutine for each file, a semaphore around them, and lines
// in whatever order they are ready. TREESUM_BENCH names another tree than Go's
// own source.
func BenchmarkTree(b *testing.B) {
	root := os.Getenv("TREESUM_BENCH")
	if root == "" {
		goroot, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
		if err != nil {
			b.Skipf("no Go to hash: %v", err)
		}
		root = filepath.Join(strings.TrimSpace(string(goroot)), "src")
	}
	var want, got bytes.Buffer
	if err := plainSum(&want, root); err != nil {
		b.Skip(err)
	}
	if status := run(b.Context(), []string{root}, nil, &got, os.Stderr); status != exitOK {
		b.Fatalf("status %d", status)
	}
	if !bytes.Equal(sortLines(got.Bytes()), sortLines(want.Bytes())) {
		b.Fatal("treesum and the plain program differ")
	}
	for _, lane := range []string{"threads", "sharded", "inline"} {
		b.Run("treesum/"+lane, func(b *testing.B) {
			for b.Loop() {
				if status := run(b.Context(), []string{"-lane", lane, root}, nil, io.Discard, os.Stderr); status != exitOK {
					b.Fatalf("status %d", status)
				}
			}
		})
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := plainSum(io.Discard, root); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// plainSum is the plain program. Its buffers are treesum's, for a fair race.
func plainSum(w io.Writer, root string) error {
	out := bufio.NewWriter(w)
	n := int64(runtime.GOMAXPROCS(0))
	slots := semaphore.NewWeighted(n)
	ctx := context.Background()
	buffers := sync.Pool{New: func() any { return new([128 << 10]byte) }}
	var mu sync.Mutex // guards out and failed
	var failed error
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if err := slots.Acquire(ctx, 1); err != nil {
			return err
		}
		go func() {
			defer slots.Release(1)
			buf, _ := buffers.Get().(*[128 << 10]byte)
			defer buffers.Put(buf)
			h, err := plainHash(path, buf[:])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
				return
			}
			_, _ = fmt.Fprintf(out, "%x  %s\n", h, path)
		}()
		return nil
	})
	if e := slots.Acquire(ctx, n); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return out.Flush()
}

func plainHash(path string, buf []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	// The struct hides f.WriteTo, which would bring a buffer of its own.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buf); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
