package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestACopyIsEqualAroundTheEdgesOfBlocks(t *testing.T) {
	onEachLane(t, func(t *testing.T, flags ...string) {
		dir := t.TempDir()
		dst := filepath.Join(dir, "dst")
		for _, n := range []int{0, 1, 511, 512, 4095, 4096, 4097, 8193, 12288, 65535, 65536, 65537, 100000} {
			src := write(t, random(n), dir, "src")
			for block, depth := range map[string]string{"4K": "5", "12K": "1", "64K": "2"} {
				wantOK(t, append(flags, "-block", block, "-depth", depth, "-verify", src, dst)...)
				same(t, src, dst)
			}
		}
		wantNames(t, dir, "dst", "src")
	})
}

func TestModeAndTimeOfModification(t *testing.T) {
	dir := t.TempDir()
	src, old := write(t, random(5000), dir, "src"), write(t, nil, dir, "old")
	long := time.Date(2001, 2, 3, 4, 5, 6, 789000000, time.UTC)
	must(t, os.Chmod(src, 0o440))
	must(t, os.Chtimes(src, long, long))
	must(t, os.Chmod(old, 0o606))
	check := func(name string, mode os.FileMode, preserved bool) {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode() != mode || info.ModTime().Equal(long) != preserved {
			t.Errorf("%s: %v, %v", name, info.Mode(), info.ModTime())
		}
	}
	for _, direct := range []string{"-direct=false", "-direct=true"} {
		wantOK(t, direct, src, filepath.Join(dir, "new"))
		check("new", 0o440, false)
		wantOK(t, direct, src, old)
		check("old", 0o606, false)
		wantOK(t, direct, "-p", src, filepath.Join(dir, "kept"))
		check("kept", 0o440, true)
		must(t, os.Remove(filepath.Join(dir, "new")))
	}
	wantOK(t, "-p", src, old)
	check("old", 0o440, true)
}

func TestAFileIsNotCopiedOntoItself(t *testing.T) {
	dir := t.TempDir()
	data := random(10000)
	src := write(t, data, dir, "src")
	hard, soft := filepath.Join(dir, "hard"), filepath.Join(dir, "soft")
	must(t, os.Link(src, hard))
	must(t, os.Symlink("src", soft))
	for _, dst := range []string{src, hard, soft, dir, filepath.Join(dir, ".", "x", "..", "src")} {
		must(t, os.MkdirAll(filepath.Join(dir, "x"), 0o755))
		wantError(t, "are the same file", dir, []string{"hard", "soft", "src", "x"}, src, dst)
	}
	if now, err := os.ReadFile(src); err != nil || string(now) != string(data) {
		t.Errorf("%v, %d bytes", err, len(now))
	}
}

// plant makes a tree.
func plant(t *testing.T, root string) {
	t.Helper()
	for i := range 10 {
		write(t, random(i*700), root, fmt.Sprint("d", i%3), fmt.Sprint("e", i%5), fmt.Sprint("file", i))
	}
	must(t, os.MkdirAll(filepath.Join(root, "empty"), 0o755))
	must(t, os.Symlink("d1/nowhere", filepath.Join(root, "link")))
}

// sameTree compares two trees.
func sameTree(t *testing.T, a, b string, times bool) {
	t.Helper()
	n := 0
	must(t, filepath.Walk(a, func(path string, x os.FileInfo, err error) error {
		must(t, err)
		n++
		other := b + strings.TrimPrefix(path, a)
		y, err := os.Lstat(other)
		must(t, err)
		if x.Mode() != y.Mode() || times && x.Mode()&os.ModeSymlink == 0 && !x.ModTime().Equal(y.ModTime()) {
			t.Errorf("%s: %v, %v; %s: %v, %v", path, x.Mode(), x.ModTime(), other, y.Mode(), y.ModTime())
		}
		if x.Mode().IsRegular() {
			same(t, path, other)
		}
		return nil
	}))
	must(t, filepath.Walk(b, func(string, os.FileInfo, error) error { n--; return nil }))
	if n != 0 {
		t.Errorf("%d things too few in %s", n, b)
	}
}

func TestATreeIsCopied(t *testing.T) {
	onEachLane(t, func(t *testing.T, flags ...string) {
		dir := t.TempDir()
		src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
		plant(t, src)
		sealed := filepath.Join(src, "d1")
		must(t, os.Chmod(sealed, 0o555))
		t.Cleanup(func() {
			for _, d := range []string{sealed, filepath.Join(dst, "d1"), filepath.Join(dst, "src", "d1")} {
				must(t, os.Chmod(d, 0o755))
			}
		})
		wantOK(t, append(flags, "-r", "-p", src, dst)...)
		sameTree(t, src, dst, true)
		wantOK(t, append(flags, "-r", "-p", src, dst)...) // into it, now that it is there
		sameTree(t, src, filepath.Join(dst, "src"), true)
	})
}

func TestATreeIsNotCopiedIntoItself(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	plant(t, src)
	must(t, os.Symlink(filepath.Join(src, "d1"), filepath.Join(dir, "in")))
	for _, dst := range []string{src, filepath.Join(src, "x"), filepath.Join(src, "d0", "x", "y"), filepath.Join(dir, "in", "x")} {
		wantError(t, "is inside of", src, []string{"d0", "d1", "d2", "empty", "link"}, "-r", src, dst)
	}
	wantError(t, "-r copies directories", dir, []string{"in", "src"}, src, filepath.Join(dir, "x"))
}

func TestOneThingThatCannotBeCopiedHoldsUpNoOther(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	write(t, random(100), src, "a")
	write(t, random(100), src, "b")
	write(t, random(100), src, "c")
	must(t, os.MkdirAll(filepath.Join(dst, "src", "b"), 0o755))
	got := command(t.Context(), "-r", src, dst)
	if got.status != exitFailed || strings.Count(got.errors, "\n") != 1 || !strings.Contains(got.errors, "is a directory, not a file") {
		t.Errorf("%+v", got)
	}
	same(t, filepath.Join(src, "a"), filepath.Join(dst, "src", "a"))
	same(t, filepath.Join(src, "c"), filepath.Join(dst, "src", "c"))
	wantNames(t, filepath.Join(dst, "src"), "a", "b", "c")
}

func TestALinkAtTheTargetIsReplaced(t *testing.T) {
	dir := t.TempDir()
	src, other := write(t, random(100), dir, "src"), write(t, []byte("x"), dir, "other")
	link := filepath.Join(dir, "link")
	must(t, os.Symlink("other", link))
	wantOK(t, src, link)
	same(t, src, link)
	if now, err := os.ReadFile(other); err != nil || string(now) != "x" {
		t.Errorf("%v, %q", err, now)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	dir := t.TempDir()
	src, missing := write(t, nil, dir, "src"), filepath.Join(dir, "missing")
	wantError(t, "fcopy: "+missing+": stat: ", dir, []string{"src"}, missing, src)
	dst := filepath.Join(missing, "dst")
	wantError(t, "fcopy: "+dst+": open: ", dir, []string{"src"}, src, dst)
}
