//go:build unix

package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// nastyTree is portableTree with everything that is no regular file.
func nastyTree(t *testing.T) string {
	t.Helper()
	dir := portableTree(t)
	other := filepath.Join(dir, "other")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(other, 0o755))
	must(syscall.Mkfifo(filepath.Join(other, "fifo"), 0o644))
	must(os.Symlink("../empty", filepath.Join(other, "link to file")))
	must(os.Symlink("../sizes", filepath.Join(other, "link to dir")))
	must(os.Symlink("..", filepath.Join(other, "loop")))
	must(os.Symlink("self", filepath.Join(other, "self")))
	must(os.Symlink("nowhere", filepath.Join(other, "dangling")))
	must(os.Link(filepath.Join(dir, "empty"), filepath.Join(other, "hard link")))
	t.Chdir(other) // the path of a socket has to be short
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: "socket", Net: "unix"})
	must(err)
	t.Cleanup(func() { socket.Close() })
	return dir
}

func TestSymbolicLinksAreNotFollowed(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "dir/file", "x")
	for _, link := range [][2]string{{"dir", "to-dir"}, {"dir/file", "to-file"}, {"nowhere", "dangling"}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo("fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	got := command(t.Context(), nil, "to-dir", "to-file", "dangling", "fifo")
	if got != (outcome{}) {
		t.Errorf("got %+v, want nothing", got)
	}
	for _, arg := range []string{"to-dir/", "dir", "./dir", "dir//", "dir/file", "."} {
		got := command(t.Context(), nil, arg)
		wantStatus(t, got, exitOK)
		same(t, arg, got.out, findAndSum(t, arg))
	}
}

func TestWhatIsNoFileAnyMoreIsReportedAndDoesNotHang(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b-fifo", "c-link", "d-dir", "e-gone", "f-dir/file", "g-gone/file", "h"} {
		write(t, "t/"+name, "x")
	}
	files, err := pool.New(pool.Config[noResource]{Threads: lane.Config{Workers: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	h := newHasher(files, newTally(), 1)
	got := make(map[string]error)
	for f := range newWalker(files).walk(t.Context(), []string{"t"}) {
		if f.err == nil && f.path == "t/a" { // the names have been read, nothing else
			for _, name := range []string{"b-fifo", "c-link", "d-dir", "e-gone", "f-dir", "g-gone"} {
				if err := os.RemoveAll("t/" + name); err != nil {
					t.Fatal(err)
				}
			}
			err := errors.Join(
				syscall.Mkfifo("t/b-fifo", 0o644), os.Symlink("a", "t/c-link"), os.Mkdir("t/d-dir", 0o755),
				syscall.Mkfifo("t/f-dir", 0o644))
			if err != nil {
				t.Fatal(err)
			}
		}
		if f.err == nil {
			_, f.err = h.hash(t.Context(), f.path, openNoFollow)
		}
		got[f.path] = f.err
	}
	for path, want := range map[string]error{
		"t/a": nil, "t/b-fifo": errNotRegular, "t/c-link": syscall.ELOOP, "t/d-dir": syscall.EISDIR, "t/e-gone": syscall.ENOENT,
		"t/f-dir": syscall.ENOTDIR, "t/g-gone": syscall.ENOENT, "t/h": nil,
	} {
		err, ok := got[path]
		if !ok || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		delete(got, path)
	}
	if len(got) != 0 {
		t.Errorf("more: %v", got)
	}
}

// TestWhatMayNotBeReadIsReportedAndNothingElseIsLost runs the command, find and
// sha256sum as somebody who may not read everything. Root may, and so becomes
// nobody.
func TestWhatMayNotBeReadIsReportedAndNothingElseIsLost(t *testing.T) {
	needGNU(t, "find", "sha256sum", "cp")
	top := t.TempDir()
	dir := filepath.Join(top, "tree")
	for _, name := range []string{"a/file", "closed/file", "no-list/file", "no-enter/one", "no-enter/two", "secret", "z/file"} {
		write(t, filepath.Join(dir, name), name)
	}
	modes := map[string]os.FileMode{"closed": 0, "no-list": 0o111, "no-enter": 0o444, "secret": 0}
	for name, mode := range modes {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
	}
	// Nobody can start a program only from a place that nobody can enter.
	exe := filepath.Join(top, "treesum")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", self, exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	attr := new(syscall.SysProcAttr)
	if os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		for path := top; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	as := func(cmd *exec.Cmd) (string, []string, int) {
		var out, errs strings.Builder
		cmd.SysProcAttr, cmd.Stdout, cmd.Stderr, cmd.Dir = attr, &out, &errs, "/"
		cmd.Env = append(os.Environ(), childEnv+"=1", "LC_ALL=C")
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Skipf("cannot start programs as nobody: %v", err)
		}
		return out.String(), strings.Split(strings.TrimSpace(errs.String()), "\n"), cmd.ProcessState.ExitCode()
	}
	got, complaints, status := as(exec.CommandContext(t.Context(), exe, dir))
	if status != exitFailed {
		t.Errorf("status %d, want 1", status)
	}
	want, _, _ := as(exec.CommandContext(t.Context(), "find", dir, "-type", "f", "-exec", "sha256sum", "--", "{}", "+"))
	same(t, "list", got, sortByPath(want))
	if n := strings.Count(got, "\n"); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	var wantComplaints []string
	for _, name := range []string{"closed", "no-enter/one", "no-enter/two", "no-list", "secret"} {
		wantComplaints = append(wantComplaints, "treesum: "+dir+"/"+name+": permission denied")
	}
	if !slices.Equal(complaints, wantComplaints) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(complaints, "\n"), strings.Join(wantComplaints, "\n"))
	}
}

func sortByPath(list string) string {
	lines := slices.Collect(strings.Lines(list))
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return strings.Join(lines, "")
}

func TestAPathThatIsTooLongIsReported(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "zz", "")
	at, err := os.OpenRoot(".")
	for range 50 { // one step at a time, since no path goes there
		if err != nil {
			t.Fatal(err)
		}
		above, name := at, strings.Repeat("d", 200)
		if err = above.Mkdir(name, 0o755); err == nil {
			at, err = above.OpenRoot(name)
		}
		above.Close()
	}
	at.Close()
	got := command(t.Context(), nil, ".")
	wantStatus(t, got, exitFailed)
	if !strings.HasSuffix(got.out, "  ./zz\n") || !strings.HasSuffix(got.errors, ": file name too long\n") {
		t.Errorf("got %+v", got)
	}
	if n := strings.Count(got.errors, "\n"); n != 1 {
		t.Errorf("%d lines on the standard error, want 1", n)
	}
}
