package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/iolane/iolane/file"
)

// compare reads all of both files again, holes too: what the system said of them is a part
// of what is to be verified. It reads from the disk, if the file systems let it.
func (p *pair) compare(ctx context.Context) (err error) {
	began := time.Now()
	defer func() { p.report.verifying += time.Since(began) }()
	q := &difference{pair: *p, at: -1}
	if q.src, err = p.open(ctx, p.src.Name(), os.O_RDONLY, 0, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close(ctx, q.src)) }()
	if q.dst, err = p.open(ctx, p.dst.Name(), os.O_RDONLY, 0, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close(ctx, q.dst)) }()
	info, err := q.dst.Stat(ctx)
	if err != nil {
		return err
	}
	size := min(info.Size, p.was.Size)
	q.blocks = newBlocks(whole(size), int64(p.block)/2) // of both files in one buffer
	if err := p.eachBlock(ctx, q.blocks, q.compareBlock); err != nil {
		return err
	}
	if q.at < 0 && info.Size != p.was.Size {
		q.at = size
	}
	if q.at >= 0 {
		return &differenceError{p.src.Name(), q.at}
	}
	return nil
}

// difference is where two files differ first.
type difference struct {
	pair
	blocks *blocks

	mu sync.Mutex
	at int64 // -1: nowhere, so far
}

// compareBlock compares a block of both files.
func (d *difference) compareBlock(ctx context.Context, buf []byte, off, n int64) error {
	half := int64(len(buf) / 2)
	a, b := buf[:min(roundUp(n), half)], buf[half:][:min(roundUp(n), half)]
	for _, side := range []struct {
		f   *file.File
		buf []byte
	}{{d.src, a}, {d.dst, b}} {
		got, err := side.f.ReadAt(ctx, side.buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if int64(got) < n {
			return &changedError{side.f.Name()}
		}
	}
	a, b = a[:n], b[:n]
	d.report.bar.add(n)
	d.report.verified.Add(n)
	if bytes.Equal(a, b) {
		return nil
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	d.found(off + int64(i))
	return nil
}

// found notes a difference. Blocks are handed out in order, so all that come before are
// being compared or were, and none that comes after is of interest.
func (d *difference) found(at int64) {
	d.blocks.stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at < 0 || at < d.at {
		d.at = at
	}
}
