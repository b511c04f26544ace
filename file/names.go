package file

import (
	"context"
	"io/fs"

	"github.com/iolane/iolane/pool"
)

// Stat describes the file with this name; it follows symbolic links.
func (p *Pool) Stat(ctx context.Context, name string, opts ...pool.Option) (Info, error) {
	op := StatName(name)
	err := p.Do(ctx, &op, opts...)
	return op.More.Info, err
}

// Rename renames a file, in place of another one if there is one.
func (p *Pool) Rename(ctx context.Context, from, to string, opts ...pool.Option) error {
	op := Rename(from, to)
	return p.Do(ctx, &op, opts...)
}

// Remove removes the name of a file.
func (p *Pool) Remove(ctx context.Context, name string, opts ...pool.Option) error {
	op := Remove(name)
	return p.Do(ctx, &op, opts...)
}

// RemoveDir removes an empty directory.
func (p *Pool) RemoveDir(ctx context.Context, name string, opts ...pool.Option) error {
	op := RemoveDir(name)
	return p.Do(ctx, &op, opts...)
}

// Mkdir makes a directory, with perm before umask.
func (p *Pool) Mkdir(ctx context.Context, name string, perm fs.FileMode, opts ...pool.Option) error {
	op := Mkdir(name, perm)
	return p.Do(ctx, &op, opts...)
}
