package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
)

// Bounds on the names that a walk holds, in bytes.
const (
	maxNames   = 8 << 20
	minPart    = 32 << 10 // of one directory, however many are open; twice that while it is read
	nameCost   = 32       // of a name beside its letters: a string header, and what the allocator rounds up
	entryBatch = 1024     // entries that are read at once
)

// part is a piece of a directory in order: the names of files, and those of
// directories with a slash at their end. The slash makes the order that of the
// paths below: "a-b" comes before "a/b", as in LC_ALL=C sort.
type part struct {
	names []string // still to be visited
	last  string   // the last name of the part
	size  int      // of all names
	more  bool     // the directory has names after last
	err   error    // why it could not be read to its end
}

func (p *part) next() (name string, ok bool) {
	if len(p.names) == 0 {
		return "", false
	}
	name, p.names = p.names[0], p.names[1:]
	return name, true
}

// readPart reads a directory from one end to the other and keeps the names after
// the given one that come first in order, as many as go into limit bytes. While
// it reads it holds at most twice as much.
func readPart(ctx context.Context, dir *os.File, after string, limit int) (p part) {
	for {
		entries, err := dir.ReadDir(entryBatch)
		for _, e := range entries {
			name := e.Name()
			switch t := e.Type(); {
			case t.IsDir():
				name += "/"
			case !t.IsRegular():
				continue
			}
			if name <= after || p.more && name >= p.last {
				continue
			}
			p.names = append(p.names, name)
			p.size += len(name) + nameCost
			if p.size > 2*limit {
				p.cut(limit)
			}
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.err = err
			}
			break
		}
	}
	p.cut(limit)
	return p
}

// cut sorts the names and drops those beyond the limit, but never the first.
func (p *part) cut(limit int) {
	slices.Sort(p.names)
	for p.size > limit && len(p.names) > 1 {
		end := len(p.names) - 1
		p.size -= len(p.names[end]) + nameCost
		p.names[end] = ""
		p.names = p.names[:end]
		p.more = true
	}
	if len(p.names) > 0 {
		p.last = p.names[len(p.names)-1]
	}
}
