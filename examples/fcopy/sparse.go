package main

import (
	"context"
	"os"
)

// data is the parts of src that have data, as the system tells, in order; or all of it.
func (p *pair) data(ctx context.Context) ([]extent, error) {
	size := p.was.Size
	if p.sparse == "never" {
		return whole(size), nil
	}
	name, inode := p.src.Name(), p.was.Inode
	parts, err := call(ctx, p.copier, func() ([]extent, error) {
		// A descriptor of its own, since that of a file.File is the pool's.
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		parts, err := dataOf(f, inode, size)
		_ = f.Close() // nothing was written
		return parts, err
	})
	return aligned(parts, size), err
}
