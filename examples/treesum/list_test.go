package main

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzALineIsAnEntryOrNot(f *testing.F) {
	sum := strings.Repeat("0f", 32)
	for _, list := range lists() {
		f.Add([]byte(strings.ReplaceAll(list, "H", sum)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var p listParser
		err := readLines(bytes.NewReader(text), func(line []byte, long bool) bool {
			if len(line) == 0 || len(line) > maxLine || bytes.IndexByte(line, '\n') >= 0 {
				t.Errorf("line %q", line)
			}
			e, ok := p.parse(line)
			if !ok || e.path == "" { // only the form with a tag can say that
				return true
			}
			again, ok := new(listParser).parse(bytes.TrimSuffix(appendEntry(nil, e), []byte("\n")))
			if !ok || again != e {
				t.Errorf("%q is %+v, formatted and parsed again %+v, %v", line, e, again, ok)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func FuzzAPathComesBack(f *testing.F) {
	for _, name := range nastyFiles() {
		f.Add(name, []byte(name))
	}
	f.Fuzz(func(t *testing.T, path string, digest []byte) {
		if path == "" {
			return
		}
		want := entry{path: path}
		copy(want.want[:], digest)
		text := appendEntry(nil, want)
		if len(text) > maxLine {
			return
		}
		n := 0
		err := readLines(bytes.NewReader(text), func(line []byte, long bool) bool {
			n++
			if got, ok := new(listParser).parse(line); !ok || got != want {
				t.Errorf("%q: got %+v, %v, want %+v", line, got, ok, want)
			}
			return true
		})
		if err != nil || n != 1 {
			t.Errorf("%q is %d lines, %v", text, n, err)
		}
	})
}

func TestQuotedPathsFillOneLine(t *testing.T) {
	for path, want := range map[string]string{
		"plain": "plain", "with space": "with space", "a\\b": "a\\b", "日本": "日本", "\xff": "\xff",
		"": `""`, "new\nline": `"new\nline"`, "\x1b[31m": `"\x1b[31m"`, "\u0085": `"\u0085"`,
	} {
		if got := quote(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}
