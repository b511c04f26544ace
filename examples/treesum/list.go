package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
)

// entry is a line of a list: what the sum of a file ought to be.
type entry struct {
	path string
	want sum
}

// appendEntry appends the line that sha256sum writes for a file.
func appendEntry(dst []byte, e entry) []byte {
	if needsEscape(e.path) {
		dst = append(dst, '\\')
	}
	dst = hex.AppendEncode(dst, e.want[:])
	dst = append(dst, "  "...)
	dst = appendName(dst, e.path)
	return append(dst, '\n')
}

// listParser parses the lines of one list. The zero value is ready to use.
type listParser struct {
	style style
}

// style is whether lines have a mark for text or binary between sum and path, as
// the first line without a tag has it. Where there is none, a path could begin
// with a character that looks like one, so the two do not mix.
type style int

const (
	unknown style = iota
	marked
	unmarked
)

const tag = "SHA256"

// parse parses a line without the end of the line.
func (p *listParser) parse(line []byte) (e entry, ok bool) {
	line = trimBlanks(line)
	line, escaped := bytes.CutPrefix(line, []byte(`\`))
	var name []byte
	if rest, tagged := bytes.CutPrefix(line, []byte(tag)); tagged {
		e.want, name, ok = splitTagged(rest)
	} else {
		e.want, name, ok = p.split(line)
	}
	e.path = string(name)
	if ok && escaped {
		e.path, ok = unescape(e.path)
	}
	return e, ok
}

// split splits "HASH  PATH", "HASH *PATH" and "HASH PATH".
func (p *listParser) split(line []byte) (want sum, name []byte, ok bool) {
	const n = 2 * len(want)
	if len(line) < n+2 || !blank(line[n]) {
		return want, nil, false
	}
	if want, ok = parseSum(line[:n]); !ok {
		return want, nil, false
	}
	name = line[n+1:]
	if hasMark := len(name) > 1 && (name[0] == ' ' || name[0] == '*'); !hasMark {
		ok = p.style != marked
		if ok {
			p.style = unmarked
		}
	} else if p.style != unmarked {
		p.style = marked
		name = name[1:]
	}
	return want, name, ok
}

// splitTagged splits "SHA256 (PATH) = HASH", from behind the tag.
func splitTagged(s []byte) (want sum, name []byte, ok bool) {
	s = bytes.TrimPrefix(s, []byte(" "))
	end := bytes.LastIndexByte(s, ')')
	if end < 1 || s[0] != '(' {
		return want, nil, false
	}
	digest, ok := bytes.CutPrefix(trimBlanks(s[end+1:]), []byte("="))
	if !ok {
		return want, nil, false
	}
	want, ok = parseSum(trimBlanks(digest))
	return want, s[1:end], ok
}

// parseSum parses a sum in hexadecimal, capitals or not.
func parseSum(s []byte) (v sum, ok bool) {
	if len(s) != 2*len(v) {
		return v, false
	}
	_, err := hex.Decode(v[:], s)
	return v, err == nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func trimBlanks(s []byte) []byte { return bytes.TrimLeft(s, " \t") }

// maxLine is more than the longest line that names a file can have. What is
// longer is not stored.
const maxLine = 256 << 10

// readLines calls use for each line that holds something, without its end, until
// use returns false. long says that a line is too long and what is given is only
// its end.
func readLines(r io.Reader, use func(line []byte, long bool) bool) error {
	b := bufio.NewReaderSize(r, maxLine)
	long := false
	for {
		line, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = true
			continue
		}
		comment := !long && bytes.HasPrefix(line, []byte("#"))
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if (long || len(line) > 0 && !comment) && !use(line, long) {
			return nil
		}
		long = false
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
