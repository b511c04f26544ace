package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// item is a thing to copy.
type item struct {
	src, dst string
	info     fs.FileInfo
}

// tree copies a file, or a directory with what is in it. The error is for what concerns
// all of it.
func (c *copier) tree(ctx context.Context, src, dst string) error {
	root, err := c.root(ctx, src, dst)
	if err != nil {
		return err
	}
	items := []item{root}
	if root.info.IsDir() {
		if !c.options.tree {
			return &kindError{src, root.info.Mode(), "a file; -r copies directories"}
		}
		if items, err = c.list(ctx, root); err != nil {
			return err
		}
	}
	for _, it := range items {
		if it.info.Mode().IsRegular() {
			c.report.bar.expect(it.info.Size())
			if c.verify {
				c.report.bar.expect(it.info.Size())
			}
		}
	}
	var made []item
	for i := 0; i < len(items) && ctx.Err() == nil; i++ {
		if it := items[i]; c.try(it, c.item(ctx, it)) {
			made = append(made, it)
		}
	}
	// What is written into a directory changes its time, and its mode may forbid it: so
	// they come last, the innermost first.
	for _, it := range slices.Backward(made) {
		if it.info.IsDir() {
			c.try(it, c.finish(ctx, it))
		}
	}
	if len(made) > 0 {
		c.try(root, c.syncDir(ctx, filepath.Dir(root.dst)))
	}
	return nil
}

// try reports it when one thing has failed.
func (c *copier) try(it item, err error) (ok bool) {
	if err != nil {
		c.report.fail(&copyError{it.src, it.dst, err})
	}
	return err == nil
}

// root is the first thing to copy: where it really goes.
func (c *copier) root(ctx context.Context, src, dst string) (item, error) {
	return call(ctx, c, func() (item, error) {
		info, err := os.Stat(src)
		if err != nil {
			return item{}, &copyError{src, dst, err}
		}
		if into, err := os.Stat(dst); err == nil && into.IsDir() {
			path, err := filepath.Abs(src) // of "." the name is not "."
			if err != nil {
				return item{}, err
			}
			dst = filepath.Join(dst, filepath.Base(path))
		}
		if info.IsDir() && inside(info, dst) {
			return item{}, &copyError{src, dst, &insideError{src, dst}}
		}
		return item{src, dst, info}, nil
	})
}

// inside reports whether a path is below a directory, or the directory.
func inside(dir fs.FileInfo, path string) bool {
	path, err := filepath.Abs(path)
	for err == nil {
		resolved, missing := filepath.EvalSymlinks(path)
		if missing == nil {
			path = resolved
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(dir, info) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
		path = filepath.Dir(path)
	}
	return false
}

// list is a directory and what is below it, each directory before what is in it. What
// cannot be read is reported, and is not in the list.
func (c *copier) list(ctx context.Context, dir item) ([]item, error) {
	entries, err := call(ctx, c, func() ([]fs.FileInfo, error) {
		entries, err := os.ReadDir(dir.src)
		if err != nil {
			return nil, err
		}
		var infos []fs.FileInfo
		for _, e := range entries {
			info, err := e.Info()
			if err == nil {
				infos = append(infos, info)
			} else if !errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
				return nil, err
			}
		}
		return infos, nil
	})
	items := []item{dir}
	if err != nil {
		c.try(dir, err)
		return items, ctx.Err()
	}
	for _, info := range entries {
		it := item{filepath.Join(dir.src, info.Name()), filepath.Join(dir.dst, info.Name()), info}
		if !info.IsDir() {
			items = append(items, it)
			continue
		}
		below, err := c.list(ctx, it)
		if err != nil {
			return nil, err
		}
		items = append(items, below...)
	}
	return items, nil
}

// item copies one thing; of a directory that is the directory alone.
func (c *copier) item(ctx context.Context, it item) error {
	switch mode := it.info.Mode(); {
	case mode.IsRegular():
		return c.file(ctx, it.src, it.dst)
	case mode.IsDir():
		return c.directory(ctx, it)
	case mode&fs.ModeSymlink != 0:
		return c.link(ctx, it)
	default:
		return &kindError{it.src, mode, "a file"}
	}
}

// directory makes a directory, if there is none, that can be written to.
func (c *copier) directory(ctx context.Context, it item) error {
	err := c.files.Mkdir(ctx, it.dst, it.info.Mode().Perm()|0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	there, err := c.files.Stat(ctx, it.dst)
	if err == nil && !there.Mode.IsDir() {
		err = &kindError{it.dst, there.Mode, "a directory"}
	}
	return err
}

// finish makes what is in a directory durable, and with -p the directory what it was.
func (c *copier) finish(ctx context.Context, it item) error {
	if err := c.syncDir(ctx, it.dst); err != nil || !c.preserve {
		return err
	}
	_, err := call(ctx, c, func() (struct{}, error) { // not every system opens a directory
		if err := os.Chmod(it.dst, it.info.Mode().Perm()); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, os.Chtimes(it.dst, time.Time{}, it.info.ModTime())
	})
	return err
}

// link copies a symbolic link.
func (c *copier) link(ctx context.Context, it item) error {
	return c.atomically(ctx, it.dst, func(temp string) error {
		_, err := call(ctx, c, func() (struct{}, error) {
			to, err := os.Readlink(it.src)
			if err == nil {
				err = os.Symlink(to, temp)
			}
			return struct{}{}, err
		})
		return err
	})
}
