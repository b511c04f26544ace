package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/iolane/iolane/file"
)

// compareFiles verifies that a file is a copy of another one.
func compareFiles(t *testing.T, laneName, src, dst string, block size) error {
	t.Helper()
	l, err := newLane(laneName, 4)
	must(t, err)
	files, err := file.NewPool(file.Config{Lane: l, OwnsLane: true})
	must(t, err)
	defer func() { must(t, files.Close()) }()
	buffers, err := file.NewBuffers(file.BuffersConfig{Count: 4, Size: int(block)})
	must(t, err)
	defer func() { must(t, buffers.Close()) }()
	c := &copier{options: &options{depth: 4, block: block}, files: files, buffers: buffers, report: newReport(io.Discard, false)}
	p := &pair{copier: c}
	ctx := context.Background()
	p.src, err = files.Open(ctx, src, os.O_RDONLY, 0)
	must(t, err)
	p.dst, err = files.Open(ctx, dst, os.O_RDONLY, 0)
	must(t, err)
	p.was, err = p.src.Stat(ctx)
	must(t, err)
	return p.compare(ctx)
}

func TestVerifyNamesTheFirstByteThatDiffers(t *testing.T) {
	for _, l := range lanes() {
		t.Run(l, func(t *testing.T) {
			dir := t.TempDir()
			data := random(300001)
			src := write(t, data, dir, "src")
			for _, block := range []size{4096, 16384, 1 << 20} {
				must(t, compareFiles(t, l, src, write(t, data, dir, "dst"), block))
				for range 5 {
					bad := append([]byte(nil), data...)
					first := len(bad)
					for range 1 + rand.IntN(3) {
						at := rand.IntN(len(bad))
						bad[at] = ^data[at]
						first = min(first, at)
					}
					wantDifference(t, compareFiles(t, l, src, write(t, bad, dir, "dst"), block), int64(first))
				}
				wantDifference(t, compareFiles(t, l, src, write(t, data[:299999], dir, "dst"), block), 299999)
				wantDifference(t, compareFiles(t, l, src, write(t, append(data[:300001:300001], 0), dir, "dst"), block), 300001)
			}
		})
	}
}

func wantDifference(t *testing.T, err error, at int64) {
	t.Helper()
	if d, ok := errors.AsType[*differenceError](err); !ok || d.at != at {
		t.Errorf("%v, want a difference at %d", err, at)
	}
}

func TestADifferenceHasAStatusOfItsOwn(t *testing.T) {
	r := newReport(io.Discard, false)
	r.fail(&copyError{"a", "b", errors.Join(&differenceError{"a", 7}, nil)})
	if !r.failed || !r.differs {
		t.Errorf("%+v", r)
	}
}

func TestATemporaryFileThatIsLeftIsNamed(t *testing.T) {
	dir := t.TempDir()
	l, err := newLane("threads", 1)
	must(t, err)
	files, err := file.NewPool(file.Config{Lane: l, OwnsLane: true})
	must(t, err)
	defer func() { must(t, files.Close()) }()
	c := &copier{options: &options{}, files: files}
	err = c.atomically(t.Context(), filepath.Join(dir, "dst"), func(temp string) error {
		must(t, os.MkdirAll(filepath.Join(temp, "in the way"), 0o755))
		return context.Canceled
	})
	left, ok := errors.AsType[*leftoverError](err)
	if !ok || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	wantNames(t, dir, filepath.Base(left.name))
}
