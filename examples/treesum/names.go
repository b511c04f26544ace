package main

import (
	"strconv"
	"strings"
	"unicode"
)

// special are the characters that would break a line, and the one that marks
// them.
const special = "\\\n\r"

// appendName appends path as sha256sum writes it. A line whose path is escaped
// begins with a backslash; see needsEscape.
func appendName(dst []byte, path string) []byte {
	for i := range len(path) {
		switch c := path[i]; c {
		case '\\':
			dst = append(dst, `\\`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func needsEscape(path string) bool { return strings.ContainsAny(path, special) }

// unescape is the reverse of appendName. It refuses what that would not write.
func unescape(name string) (path string, ok bool) {
	if strings.IndexByte(name, '\\') < 0 {
		return name, true
	}
	var b strings.Builder
	b.Grow(len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '\\' {
			i++
			if i == len(name) {
				return "", false
			}
			switch name[i] {
			case '\\':
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			default:
				return "", false
			}
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// quote is path for a message: as it is, unless it could break the line or tell
// the terminal something.
func quote(path string) string {
	if path == "" || strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}
