package main

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/iolane/iolane/pool"
)

// found is one step of a walk: the path of a regular file or, with err, of
// something that could not be looked at.
type found struct {
	path string
	err  error
}

// level is a directory that the walk is in.
type level struct {
	dir    string // its path, to open it
	prefix string // its path with a separator at the end, to make paths below it
	part   part   // names that are still to be visited
}

// walker walks trees in order. Each look at the disk is a call on the pool, an
// urgent one: it goes before the files that wait to be hashed, so that they
// never run out.
type walker struct {
	files    *pool.Pool[noResource]
	maxNames int
	minPart  int
	levels   []level
	held     int // size of all parts
}

func newWalker(files *pool.Pool[noResource]) *walker {
	return &walker{files: files, maxNames: maxNames, minPart: minPart}
}

// walk yields the regular files below roots, in order, until ctx ends.
func (w *walker) walk(ctx context.Context, roots []string) iter.Seq[found] {
	return func(yield func(found) bool) {
		for _, root := range roots {
			info, err := pool.Run(ctx, w.files, func(context.Context) (fs.FileInfo, error) {
				return os.Lstat(root)
			}, pool.Urgent)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil || info.Mode().IsRegular():
				if !yield(found{root, err}) {
					return
				}
			case info.IsDir():
				prefix := root
				if !os.IsPathSeparator(root[len(root)-1]) {
					prefix += "/"
				}
				if !w.descend(ctx, root, prefix, yield) {
					return
				}
			}
		}
	}
}

// descend walks one tree. Its stack is a slice, not that of the goroutine, which
// makes a step in a deep tree cost no more than in a flat one.
func (w *walker) descend(ctx context.Context, dir, prefix string, yield func(found) bool) bool {
	push := func(dir, prefix string) bool {
		w.levels = append(w.levels, level{dir: dir, prefix: prefix})
		return w.read(ctx, yield)
	}
	if !push(dir, prefix) {
		return false
	}
	for len(w.levels) > 0 {
		at := &w.levels[len(w.levels)-1]
		name, ok := at.part.next()
		switch {
		case ok && strings.HasSuffix(name, "/"):
			path := at.prefix + name
			if !push(path[:len(path)-1], path) {
				return false
			}
		case ok:
			if !yield(found{at.prefix + name, nil}) {
				return false
			}
		case at.part.more:
			if !w.read(ctx, yield) {
				return false
			}
		default:
			w.held -= at.part.size
			w.levels = w.levels[:len(w.levels)-1]
		}
	}
	return true
}

// read gets the next part of the directory that the walk is in.
func (w *walker) read(ctx context.Context, yield func(found) bool) bool {
	at := &w.levels[len(w.levels)-1]
	w.held -= at.part.size
	after, limit := at.part.last, max(w.minPart, (w.maxNames-w.held)/2)
	open := func(context.Context) (*os.File, error) {
		return os.OpenFile(at.dir, os.O_RDONLY|openDir|openNoFollow, 0)
	}
	use := func(ctx context.Context, dir *os.File) (part, error) {
		return readPart(ctx, dir, after, limit), nil
	}
	p, err := pool.Scoped(ctx, w.files, open, use, (*os.File).Close, pool.Urgent)
	if ctx.Err() != nil {
		return false
	}
	at.part = p
	w.held += p.size
	if err == nil {
		err = p.err // the names before it are as good as any
	}
	return err == nil || yield(found{at.dir, err})
}
