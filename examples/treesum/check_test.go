package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachAcceptsTheListsOfTheOther(t *testing.T) {
	dir := nastyTree(t)
	theirs := findAndSum(t, dir)
	ours := command(t.Context(), nil, dir)
	wantStatus(t, ours, exitOK)

	list := filepath.Join(t.TempDir(), "list")
	write(t, list, ours.out)
	got := gnu(t, nil, "sha256sum", "--strict", "--quiet", "--check", list)
	if got != (outcome{}) {
		t.Errorf("sha256sum --check of our list: %+v", got)
	}
	for _, args := range [][]string{{"-check", "-"}, {"-check", "-", "-workers", "1"}, {"-check", "-", "-lane", "sharded"}} {
		got = command(t.Context(), strings.NewReader(theirs), args...)
		wantStatus(t, got, exitOK)
		lines := strings.Count(theirs, "\n")
		if n := strings.Count(got.out, ": OK\n"); n != lines || n != strings.Count(got.out, "\n") || got.errors != "" {
			t.Errorf("%v: %d of %d lines are OK; standard error: %s", args, n, lines, got.errors)
		}
	}
	got = command(t.Context(), nil, "-quiet", "-check", list)
	if got != (outcome{}) {
		t.Errorf("treesum -quiet -check: %+v, want nothing", got)
	}
}

// lists are what can be wrong, or merely unusual, with a list. In them H is the
// sum of the files a, " a" and "*a", and W a wrong one.
func lists() []string {
	const long = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	return []string{
		"", "\n", "\r\n\n", "# nothing\n", "garbage\n", long + "\n", "H\n", "H \n", "H  \n", "Ha\n",
		"H  a\n", "H  a", "H *a\n", "H  a\r\n", "H *a\r", "H  a\r\r\n", "H  *a\n", "H   a\n", "H\t a\n", "H\ta\n",
		"  H  a\n", "\tH  a\n", "\\H  a\n", "\\H  a\\n\n", "\\H  a\\x\n", "\\H  a\\\n", "H  a\\n\n", "\\\\H  a\n",
		"H  a\nW  a\n", "W  a\nW  a\n", "H  a\nx\n", "H  a\nx\ny\n", "H  missing\n", "W  missing\nH  missing\nH  a\nx\n",
		"H  .\n", "H  a/\n", "0H  a\n", "H0  a\n", "G  a\n", "# x\n\nH  a\n", " # x\n", "x\n#\nH *a\n",
		"H a\n", "H a\nH  a\n", "H  a\nH a\n", "H *\n", "H  a\nH *a\nH  *a\n", "H a\nH *a\n",
		"SHA256 (a) = H\n", "SHA256(a)=H\n", "SHA256  (a) = H\n", "SHA256 (a) = H \n", "SHA256 (a)\t=\tH\n", "SHA256 (a) - H\n",
		"SHA256 ()) = H\n", "SHA256 () = H\n", "SHA256 (a = H\n", "SHA256 a\n", "SHA256\n", "SHA256 (", "\\SHA256 (a) = H\n", "\\SHA256 (\\x) = H\n",
		"SHA1 (a) = H\n", "SHA256 (a) = W\n", "H a\nSHA256 (a) = H\n", "SHA256 (*a) = H\nW a\n",
	}
}

func TestCheckSaysWhatSHA256SumSays(t *testing.T) {
	needGNU(t, "sha256sum")
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", " a", "*a"} {
		write(t, name, "x")
	}
	right := fmt.Sprintf("%x", sha256.Sum256([]byte("x")))
	wrong := strings.Replace(right, "2", "3", 1)
	for _, list := range lists() {
		for _, sum := range []string{right, strings.ToUpper(right)} {
			text := strings.NewReplacer("H", sum, "W", wrong, "SHA256", "SHA256", "SHA1", "SHA1", "G", "g"+sum[1:]).Replace(list)
			write(t, "list", text)
			for _, quiet := range []bool{false, true} {
				theirs, ours := []string{"--check", "list"}, []string{"-check", "list"}
				if quiet {
					theirs, ours = append(theirs, "--quiet"), append([]string{"-quiet"}, ours...)
				}
				want := gnu(t, nil, "sha256sum", theirs...)
				got := command(t.Context(), nil, ours...)
				want.errors, got.errors = warnings(want.errors), warnings(got.errors)
				// Which paths it escapes here depends on the version of sha256sum.
				want.out, got.out = unescapeLines(want.out), unescapeLines(got.out)
				if got != want {
					t.Errorf("%q (quiet %v):\ngot  %+v\nwant %+v", text, quiet, got, want)
				}
			}
		}
	}
}

func unescapeLines(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if escaped, ok := strings.CutPrefix(line, `\`); ok {
			line, _ = unescape(escaped)
		}
		b.WriteString(line)
	}
	return b.String()
}

// warnings is what both programs say on the standard error in the same words.
func warnings(errs string) string {
	var b strings.Builder
	for line := range strings.Lines(errs) {
		_, line, _ = strings.Cut(line, ": ")
		if strings.HasPrefix(line, "WARNING: ") || strings.HasSuffix(line, "lines found\n") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestCheckEscapesPathsInItsReport(t *testing.T) {
	t.Chdir(t.TempDir())
	list := string(appendEntry(nil, entry{path: "no\nsuch\\file\r"}))
	got := command(t.Context(), strings.NewReader(list), "-check", "-")
	const want = `\no\nsuch\\file\r: FAILED open or read` + "\n"
	if got.status != exitFailed || got.out != want {
		t.Errorf("got %+v, want %q", got, want)
	}
	if n := strings.Count(got.errors, "\n"); n != 2 {
		t.Errorf("%d lines on the standard error, want 2:\n%s", n, got.errors)
	}
}

func TestAListThatCannotBeReadIsReported(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "")
	for _, list := range []string{"missing", "."} {
		got := command(t.Context(), nil, "-check", list)
		if got.status != exitFailed || got.out != "" || !strings.HasPrefix(got.errors, "treesum: "+list+": ") || strings.Count(got.errors, "\n") != 1 {
			t.Errorf("%s: %+v", list, got)
		}
	}
	// What came before the fault is verified all the same.
	list := string(appendEntry(nil, entry{path: "a", want: sha256.Sum256(nil)}))
	got := command(t.Context(), failingReader{strings.NewReader(list)}, "-check", "-")
	want := outcome{exitFailed, "a: OK\n", "treesum: standard input: " + errReader.Error() + "\n"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestALongLineIsOneBadLineAndNotStored(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "")
	good := string(appendEntry(nil, entry{path: "a", want: sha256.Sum256(nil)}))
	long := strings.Repeat(strings.TrimSuffix(good, "\n"), 100_000) + "\n"
	got := command(t.Context(), strings.NewReader(good+long+good+"#"+long), "-check", "-")
	want := outcome{exitOK, "a: OK\na: OK\n", "treesum: WARNING: 2 lines are improperly formatted\n"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

type failingReader struct{ *strings.Reader }

var errReader = fmt.Errorf("reader: %w", os.ErrClosed)

func (r failingReader) Read(b []byte) (int, error) {
	if r.Len() == 0 {
		return 0, errReader
	}
	return r.Reader.Read(b)
}
