package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/pool"
)

// copier copies files, one after the other.
type copier struct {
	*options
	files   *file.Pool
	buffers *file.Buffers // each of them a block
	report  *report
}

// call makes a call that package file has no operation for, on the lane. fn must share
// nothing with its caller, who may leave it.
func call[T any](ctx context.Context, c *copier, fn func() (T, error)) (T, error) {
	return pool.Offload(ctx, c.files.Pool(), func(context.Context) (T, error) { return fn() })
}

// pair is a file and its copy to be, while both are open.
type pair struct {
	*copier
	src, dst *file.File
	was      file.Info // src, before
	parts    []extent  // of src, that have data
}

// file copies one file, past the page cache if that is wanted and can be done. There are
// file systems that refuse direct I/O not when a file is opened but when it is used.
func (c *copier) file(ctx context.Context, src, dst string) error {
	err := c.replace(ctx, src, dst, c.direct)
	if c.direct && errors.Is(err, syscall.EINVAL) && ctx.Err() == nil {
		c.report.note("%s: no direct I/O: %s", src, reason(err))
		err = c.replace(ctx, src, dst, false)
	}
	return err
}

// open opens a file, past the page cache if that is wanted and the file system can.
func (c *copier) open(ctx context.Context, name string, flag int, perm fs.FileMode, direct bool) (*file.File, error) {
	if !direct {
		return c.files.Open(ctx, name, flag, perm)
	}
	f, err := c.files.Open(ctx, name, flag|file.TryDirect, perm)
	if err != nil {
		return nil, err
	}
	memory, offset := f.Alignment()
	switch {
	case f.Direct() && memory <= align && offset <= align, runtime.GOOS == "darwin":
		return f, nil
	case !f.Direct():
		c.report.note("%s: no direct I/O: the file system has none", name)
		return f, nil
	}
	c.report.note("%s: no direct I/O: it would have to be aligned to %d in memory and %d in the file", name, memory, offset)
	if err := c.close(ctx, f); err != nil {
		return nil, err
	}
	return c.files.Open(ctx, name, flag&^(os.O_CREATE|os.O_EXCL), perm) // it was made
}

// fill makes dst what src is.
func (p *pair) fill(ctx context.Context) error {
	var err error
	if p.parts, err = p.data(ctx); err != nil {
		return err
	}
	p.report.bar.skip(p.was.Size - total(p.parts))
	if err := p.reserve(ctx); err != nil {
		return err
	}
	if err := p.eachBlock(ctx, newBlocks(p.parts, int64(p.block)), p.copyBlock); err != nil {
		return err
	}
	if p.dst.Direct() { // the last block was written as a whole
		if err := p.dst.Truncate(ctx, p.was.Size); err != nil {
			return err
		}
	}
	return p.unchanged(ctx)
}

// reserve gives dst its size, and room on the disk for what will be written, where the
// file system can. So a full disk is found before anything is copied, and direct writes
// need not wait for each other to make the file longer.
func (p *pair) reserve(ctx context.Context) error {
	if err := p.dst.Truncate(ctx, p.was.Size); err != nil {
		return err
	}
	if p.sparse == "always" { // nobody knows yet how much that is
		return nil
	}
	const atOnce = 256
	for first := 0; first < len(p.parts); first += atOnce {
		var ops []file.Op
		for _, part := range p.parts[first:min(first+atOnce, len(p.parts))] {
			ops = append(ops, file.Allocate(p.dst, 0, part.off, part.end-part.off))
		}
		err := p.files.DoAll(ctx, ops)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachBlock calls do for each of the blocks, -depth of them at a time, each with a buffer
// of its own. After an error no others are begun.
func (c *copier) eachBlock(ctx context.Context, blocks *blocks, do func(ctx context.Context, buf []byte, off, n int64) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for range min(int64(c.depth), blocks.count()) {
		g.Go(func() error {
			// Outside of the fiber, since it might wait.
			buf, err := c.buffers.Get(ctx)
			if err != nil {
				return err
			}
			err = c.files.Fiber(ctx, func(ctx context.Context) error {
				for {
					off, n, ok := blocks.next()
					if !ok {
						return nil
					}
					if err := do(ctx, buf, off, n); err != nil {
						return err
					}
				}
			})
			if !mayBeInUse(err) {
				c.buffers.Put(buf)
			}
			return err
		})
	}
	return g.Wait()
}

// copyBlock reads a block and writes it where it was.
func (p *pair) copyBlock(ctx context.Context, buf []byte, off, n int64) error {
	// As a whole, also where the file ends: a direct read of a part would cost a copy.
	read, err := p.src.ReadAt(ctx, buf[:roundUp(n)], off)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if int64(read) < n {
		return &changedError{p.src.Name()}
	}
	if p.sparse == "always" && zero(buf[:n]) {
		p.report.bar.add(n)
		return nil
	}
	whole := n
	if p.dst.Direct() {
		whole = roundUp(n)
		clear(buf[n:whole])
	}
	if _, err := p.dst.WriteAt(ctx, buf[:whole], off); err != nil {
		return err
	}
	p.report.bar.add(n)
	return nil
}

// unchanged refuses a source that is not what it was, or that says that it is empty and is
// not, as files of /proc do.
func (p *pair) unchanged(ctx context.Context) error {
	now, err := p.src.Stat(ctx)
	if err != nil {
		return err
	}
	var one [1]byte
	_, err = p.src.ReadAt(ctx, one[:], p.was.Size)
	switch {
	case err == nil, now.Size != p.was.Size, !now.ModTime.Equal(p.was.ModTime):
		return &changedError{p.src.Name()}
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// roundUp is the next multiple of align.
func roundUp(n int64) int64 { return (n + align - 1) &^ (align - 1) }
