package main

import (
	"context"
	"io"
	"iter"
	"os"
)

// listed is a line of a list that has been read.
type listed struct {
	entry
	bad bool  // it is no entry
	err error // the list could not be read beyond this point
}

// verified is what became of it.
type verified struct {
	listed
	hashed
	unread error // why its file could not be hashed
}

// check verifies the files of a list.
func (j *job) check(ctx context.Context, o *options, stdin io.Reader) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	verify := func(l listed) verified {
		v := verified{listed: l}
		if !l.bad && l.err == nil {
			v.hashed, v.unread = j.hash(ctx, l.path, 0)
		}
		return v
	}
	var bad, unread, wrong, good int
	var unlisted bool
	for v := range inOrder(lines(ctx, o.check, stdin), j.window, verify, j.idle) {
		switch {
		case v.err != nil:
			unlisted = true
			j.complain(o.listName(), v.err)
		case v.bad:
			bad++
		case notStarted(v.unread):
		case v.unread != nil:
			unread++
			j.complain(v.path, v.unread)
			j.verdict(v.path, "FAILED open or read")
		case v.sum != v.want:
			wrong++
			j.report.tally.count(v.size)
			j.verdict(v.path, "FAILED")
		default:
			good++
			j.report.tally.count(v.size)
			if !o.quiet {
				j.verdict(v.path, "OK")
			}
		}
		if !j.writable() {
			cancel()
			return
		}
	}
	switch {
	case unlisted:
		return
	case unread+wrong+good == 0 && ctx.Err() == nil:
		j.fail("%s: no properly formatted checksum lines found", quote(o.listName()))
		return
	}
	j.warn(bad, "line is improperly formatted", "lines are improperly formatted")
	j.warn(unread, "listed file could not be read", "listed files could not be read")
	j.warn(wrong, "computed checksum did NOT match", "computed checksums did NOT match")
	if wrong > 0 {
		j.failed = true
	}
}

func (j *job) verdict(path, what string) {
	var line []byte
	if needsEscape(path) {
		line = append(line, '\\')
	}
	line = appendName(line, path)
	line = append(line, ": "...)
	line = append(line, what...)
	j.print(append(line, '\n'))
}

func (j *job) warn(n int, one, many string) {
	switch n {
	case 0:
	case 1:
		j.say("WARNING: 1 %s", one)
	default:
		j.say("WARNING: %d %s", n, many)
	}
}

func (o *options) listName() string {
	if o.check == "-" {
		return "standard input"
	}
	return o.check
}

// lines yields the lines of a list, until ctx ends. They are read on a goroutine
// of its own, the only one that treesum ever leaves behind: when it is
// interrupted and the list is a terminal or a pipe that says nothing, no one can
// end the read. That is also why it is no call on the pool, which waits for its
// calls.
func lines(ctx context.Context, name string, stdin io.Reader) iter.Seq[listed] {
	return func(yield func(listed) bool) {
		c := make(chan listed, 64)
		go func() {
			defer close(c)
			send := func(l listed) bool {
				select {
				case c <- l:
					return true
				case <-ctx.Done():
					return false
				}
			}
			if err := readList(name, stdin, send); err != nil {
				send(listed{err: err})
			}
		}()
		for {
			select {
			case l, ok := <-c:
				if !ok || !yield(l) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func readList(name string, stdin io.Reader, send func(listed) bool) error {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		r = f
	}
	var p listParser
	return readLines(r, func(line []byte, long bool) bool {
		e, ok := entry{}, false
		if !long {
			e, ok = p.parse(line)
		}
		return send(listed{entry: e, bad: !ok})
	})
}
