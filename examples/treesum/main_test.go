package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// childEnv makes the test binary be the command, for tests that need a process.
const childEnv = "TREESUM_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		main()
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		if shared.dir != "" {
			_ = os.RemoveAll(shared.dir)
		}
		os.Exit(status)
	}))
}

// shared are trees that take long to make, for tests that change nothing in them.
var shared struct {
	sync.Mutex
	dir string
}

// sharedTree returns the tree of that name, which is made when it is first asked
// for.
func sharedTree(t *testing.T, name string, fill func(dir string)) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.dir == "" {
		dir, err := os.MkdirTemp("", "treesum-test-*") //nolint:usetesting // it outlives the test
		if err != nil {
			t.Fatal(err)
		}
		shared.dir = dir
	}
	dir := filepath.Join(shared.dir, name)
	if _, err := os.Stat(dir); err != nil {
		fill(dir)
	}
	return dir
}

// manyFiles is a tree of n small files, several to a directory.
func manyFiles(t *testing.T, n int) string {
	t.Helper()
	return sharedTree(t, fmt.Sprint("many", n), func(dir string) {
		for i := range n {
			write(t, fmt.Sprintf("%s/%d/%d/file %d", dir, i%7, i%97, i), fmt.Sprint(i))
		}
	})
}

// child is the command as another process.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	return cmd
}

// outcome is what a run of the command, or of another one, leaves.
type outcome struct {
	status      int
	out, errors string
}

// command runs the command in this process.
func command(ctx context.Context, stdin io.Reader, args ...string) outcome {
	var out, errs bytes.Buffer
	status := run(ctx, args, stdin, &out, &errs)
	return outcome{status, out.String(), errs.String()}
}

// gnu runs a GNU tool, or skips the test where there is none.
func gnu(t *testing.T, stdin io.Reader, name string, args ...string) outcome {
	t.Helper()
	needGNU(t, name)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func needGNU(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		version, err := exec.CommandContext(t.Context(), name, "--version").Output()
		if err != nil || !bytes.Contains(version, []byte("GNU")) {
			t.Skipf("no GNU %s to compare with (%v)", name, err)
		}
	}
}

func wantStatus(t *testing.T, got outcome, status int) {
	t.Helper()
	if got.status != status {
		t.Fatalf("status %d, want %d; standard error:\n%s", got.status, status, got.errors)
	}
}

// same compares two long texts line by line.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			t.Fatalf("%s: %d lines instead of %d; missing: %q", what, len(g)-1, len(w)-1, w[i])
		case i >= len(w):
			t.Fatalf("%s: %d lines instead of %d; too many: %q", what, len(g)-1, len(w)-1, g[i])
		case g[i] != w[i]:
			t.Fatalf("%s: line %d:\ngot  %q\nwant %q", what, i+1, g[i], w[i])
		}
	}
}

func sortLines(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	slices.SortFunc(lines, bytes.Compare)
	return bytes.Join(lines, nil)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
