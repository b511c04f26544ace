package main

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/iolane/iolane/file"
)

// replace puts a copy of src in the place of dst, as a whole or not at all.
func (c *copier) replace(ctx context.Context, src, dst string, direct bool) (err error) {
	from, err := c.open(ctx, src, os.O_RDONLY, 0, direct)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(ctx, from)) }()
	was, err := from.Stat(ctx)
	if err != nil {
		return err
	}
	if !was.Mode.IsRegular() {
		return &kindError{src, was.Mode, "a file"}
	}
	perm, err := c.target(ctx, src, dst, was)
	if err != nil {
		return err
	}
	return c.atomically(ctx, dst, func(temp string) error {
		to, err := c.open(ctx, temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, was.Mode.Perm(), direct)
		if err != nil {
			return err
		}
		p := &pair{copier: c, src: from, dst: to, was: was}
		err = p.fill(ctx)
		if err == nil {
			err = p.describe(ctx, perm)
		}
		if err == nil {
			err = to.Sync(ctx)
		}
		if err == nil && c.verify {
			err = p.compare(ctx)
		}
		return errors.Join(err, c.close(ctx, to))
	})
}

// umasked is a mode for target to return: the one with which the file is made will do.
const umasked = ^fs.FileMode(0)

// target looks at what dst is, and says which mode the copy of what was gets in the end.
func (c *copier) target(ctx context.Context, src, dst string, was file.Info) (fs.FileMode, error) {
	to, err := c.files.Stat(ctx, dst)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && !c.preserve:
		return umasked, nil
	case err != nil && !missing:
		return 0, err
	case !missing && file.SameFile(was, to):
		return 0, &sameFileError{src, dst}
	case !missing && !to.Mode.IsRegular():
		return 0, &kindError{dst, to.Mode, "a file"}
	case c.preserve:
		return was.Mode.Perm(), nil
	}
	return to.Mode.Perm(), nil
}

// describe gives the copy its mode, and with -p the time of modification.
func (p *pair) describe(ctx context.Context, perm fs.FileMode) error {
	if perm != umasked {
		if err := p.dst.Chmod(ctx, perm); err != nil {
			return err
		}
	}
	if !p.preserve {
		return nil
	}
	return p.dst.SetTimes(ctx, time.Time{}, p.was.ModTime)
}

// atomically has a temporary file made, and gives it the name dst. If that fails the
// temporary file is removed.
func (c *copier) atomically(ctx context.Context, dst string, fill func(temp string) error) error {
	temp := filepath.Join(filepath.Dir(dst), ".fcopy-"+strconv.FormatUint(rand.Uint64(), 36))
	err := fill(temp)
	if err == nil {
		err = c.files.Rename(ctx, temp, dst)
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if why := c.files.Remove(ctx, temp); why != nil && !errors.Is(why, fs.ErrNotExist) {
		return &leftoverError{temp, why, err}
	}
	return err
}

// syncDir makes the names in a directory durable, where the system can do so.
func (c *copier) syncDir(ctx context.Context, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := c.files.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = dir.Sync(ctx)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // there is nothing to be made durable
	}
	return errors.Join(err, c.close(ctx, dir))
}

// close closes a file, also if ctx has ended.
func (c *copier) close(ctx context.Context, f *file.File) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return f.Close(ctx)
}
