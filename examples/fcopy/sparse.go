package main

import (
	"context"
	"errors"
	"io"
)

// data is the parts of src that have data, as the system tells, in order; or all of it.
func (p *pair) data(ctx context.Context) ([]extent, error) {
	size := p.was.Size
	if p.sparse == "never" {
		return whole(size), nil
	}
	var parts []extent
	for off := int64(0); off < size; {
		start, end, err := p.src.NextData(ctx, off)
		if errors.Is(err, io.EOF) || err == nil && start >= size {
			break
		}
		if err != nil {
			return nil, err
		}
		parts, off = append(parts, extent{start, min(end, size)}), end
	}
	return aligned(parts, size), nil
}
