package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// findAndSum is the list that find and sha256sum make of trees, in the order
// that treesum promises for one tree.
func findAndSum(t *testing.T, root string) string {
	t.Helper()
	needGNU(t, "find", "sha256sum", "sort", "xargs")
	paths := gnu(t, nil, "find", root, "-type", "f", "-print0")
	sorted := gnu(t, strings.NewReader(paths.out), "sort", "-z")
	sums := gnu(t, strings.NewReader(sorted.out), "xargs", "-0", "-r", "sha256sum", "--")
	wantStatus(t, paths, 0)
	wantStatus(t, sums, 0)
	return sums.out
}

func TestTheListIsThatOfFindAndSHA256Sum(t *testing.T) {
	dir := nastyTree(t)
	want := findAndSum(t, dir)
	if n := strings.Count(want, "\n"); n < 30 {
		t.Fatalf("the tree has only %d files", n)
	}
	got := command(t.Context(), nil, dir)
	wantStatus(t, got, exitOK)
	same(t, "list", got.out, want)
	if got.errors != "" {
		t.Errorf("standard error: %s", got.errors)
	}
}

// nastyFiles are what a file can be called.
func nastyFiles() []string {
	long := strings.Repeat("x", 255)
	names := []string{
		" ", "  two spaces", "trailing space ", "-", "--", "-check", "*star", "#hash", "~", "$(id)", "a", "a-b", "a b",
		"a.b", "A", "new\nline", "\n", "carriage\rreturn", "\r", "back\\slash", "\\", "\\n", "all\\\n\r", "tab\t", "bell\a",
		"quote\"'`", "ümläut", "日本語", "emoji🙂", "invalid\xff\xfeutf8", "\xc3", "...", ".hidden", "\x7f", "\x01",
		"a/under a", "a0/b", "a/sub-dir/f", "a/sub/f", long, "d/" + long,
	}
	return append(names, "deep/"+strings.Repeat("d/", 500)+"file")
}

// portableTree makes those of the nasty files that the file system takes, a big
// file and an empty one.
func portableTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range nastyFiles() {
		path := filepath.Join(dir, "names", name)
		if strings.HasPrefix(name, "a/") {
			path = filepath.Join(dir, "below", name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Logf("left out: %v", err)
		} else if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Logf("left out: %v", err)
		}
	}
	write(t, filepath.Join(dir, "empty"), "")
	for _, size := range []int{1, 63, 64, 65, 128<<10 - 1, 128 << 10, 128<<10 + 1, 9_999_999} {
		write(t, filepath.Join(dir, "sizes", fmt.Sprint(size)), strings.Repeat("y", size))
	}
	if err := os.MkdirAll(filepath.Join(dir, "empty dir", "in an empty dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEveryLaneGivesTheSameList(t *testing.T) {
	dir := manyFiles(t, 10_000)
	want := command(t.Context(), nil, "-lane", "inline", dir)
	wantStatus(t, want, exitOK)
	if n := strings.Count(want.out, "\n"); n != 10_000 {
		t.Fatalf("%d lines, want 10000", n)
	}
	for _, args := range []string{
		"-lane threads", "-lane threads -workers 1", "-workers 1 -queue 0", "-workers 17", "-workers 3 -queue 1", "-queue 5000",
		"-lane sharded", "-lane sharded -workers 1 -queue 0", "-lane sharded -workers 5 -queue 3", "-lane inline -workers 9",
	} {
		got := command(t.Context(), nil, append(strings.Fields(args), dir)...)
		if got.status != exitOK || got.errors != "" {
			t.Errorf("treesum %s: %d, %s", args, got.status, got.errors)
		}
		same(t, args, got.out, want.out)
	}
}

func TestSumsAreThoseOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a", "x")
	write(t, dir+"/b/c", "yy")
	want := fmt.Sprintf("%x  %s/a\n%x  %[2]s/b/c\n", sha256.Sum256([]byte("x")), dir, sha256.Sum256([]byte("yy")))
	if runtime.GOOS == "windows" {
		want = `\` + strings.ReplaceAll(strings.ReplaceAll(want, `\`, `\\`), "\n", "\n\\")
		want = strings.TrimSuffix(want, `\`)
	}
	got := command(t.Context(), nil, dir)
	wantStatus(t, got, exitOK)
	same(t, "list", got.out, want)
}

func TestArgumentsAreTakenInOrderAndAsTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "z/file", "z")
	write(t, "a/file", "a")
	write(t, "one", "1")
	got := command(t.Context(), nil, "z", "./a/", "one", "a//", "a/../z", "z")
	wantStatus(t, got, exitOK)
	var paths []string
	for line := range strings.Lines(got.out) {
		paths = append(paths, strings.TrimSpace(line[2*sha256.Size:]))
	}
	want := "z/file ./a/file one a//file a/../z/file z/file"
	if s := strings.Join(paths, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestAMissingArgumentCostsOneLineAndNothingElse(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a/file", "")
	write(t, "b/file", "")
	got := command(t.Context(), nil, "a", "missing", "new\nline", "", "b")
	wantStatus(t, got, exitFailed)
	if n := strings.Count(got.out, "/file\n"); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	lines := strings.Split(strings.TrimSpace(got.errors), "\n")
	for i, want := range []string{"treesum: missing: ", `treesum: "new\nline": `, `treesum: "": `} {
		if len(lines) != 3 || !strings.HasPrefix(lines[i], want) {
			t.Errorf("standard error:\n%s", got.errors)
		}
	}
}
