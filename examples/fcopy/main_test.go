package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/file"
)

// childEnv makes the test binary be the command, for tests that need a process.
const childEnv = "FCOPY_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		limit()
		main()
	}
	goleak.VerifyTestMain(m)
}

// lanes are all there are, as options.
func lanes() []string { return []string{"ring", "threads", "abandoning", "pinned", "inline"} }

// onEachLane runs a test with each of them, with direct I/O and without.
func onEachLane(t *testing.T, test func(t *testing.T, flags ...string)) {
	for _, l := range lanes() {
		t.Run(l, func(t *testing.T) { test(t, "-lane", l) })
		t.Run(l+"-direct", func(t *testing.T) { test(t, "-lane", l, "-direct") })
	}
}

// outcome is what a run of the command leaves.
type outcome struct {
	status      int
	out, errors string
}

// command runs the command in this process.
func command(ctx context.Context, args ...string) outcome {
	var out, errs bytes.Buffer
	status := run(ctx, args, &out, &errs)
	return outcome{status, out.String(), errs.String()}
}

// wantOK runs the command, which must succeed and, but for notes, say nothing.
func wantOK(t *testing.T, args ...string) {
	t.Helper()
	got := command(t.Context(), args...)
	for line := range strings.Lines(got.errors) {
		if !strings.HasPrefix(line, "fcopy: note: ") {
			t.Errorf("it says: %s", line)
		}
	}
	if got.status != exitOK || got.out != "" {
		t.Fatalf("status %d, standard output %q, standard error:\n%s", got.status, got.out, got.errors)
	}
}

// wantError runs the command, which must fail with one line that contains this, and leave
// nothing behind in a directory but these names.
func wantError(t *testing.T, text, dir string, names []string, args ...string) {
	t.Helper()
	got := command(t.Context(), args...)
	if got.status != exitFailed || strings.Count(got.errors, "\n") != 1 || !strings.Contains(got.errors, text) {
		t.Errorf("status %d, standard error:\n%s", got.status, got.errors)
	}
	wantNames(t, dir, names...)
}

// wantNames checks what is in a directory.
func wantNames(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s contains %q, want %q", dir, got, names)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// random is so many bytes, none of them zero, so that no block passes for a hole.
func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + rand.IntN(255))
	}
	return b
}

func write(t *testing.T, data []byte, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, data, 0o644))
	return name
}

// same compares two files.
func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	must(t, err)
	y, err := os.ReadFile(b)
	must(t, err)
	if !bytes.Equal(x, y) {
		t.Errorf("%s (%d bytes) and %s (%d bytes) differ", a, len(x), b, len(y))
	}
}

func TestTheCommandLineIsChecked(t *testing.T) {
	for _, args := range [][]string{
		{}, {"a"}, {"a", "b", "c"}, {"-lane", "fast", "a", "b"}, {"-depth", "0", "a", "b"}, {"-depth", "1025", "a", "b"},
		{"-block", "0", "a", "b"}, {"-block", "4097", "a", "b"}, {"-block", "1G", "a", "b"}, {"-block", "x", "a", "b"},
		{"-block", "", "a", "b"}, {"-block", "99999999999999999999", "a", "b"}, {"-sparse", "maybe", "a", "b"}, {"-nosuch", "a", "b"},
	} {
		if got := command(t.Context(), args...); got.status != exitUsage || !strings.HasSuffix(got.errors, synopsis) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := command(t.Context(), "-help"); got.status != exitOK || !strings.HasPrefix(got.out, synopsis) || got.errors != "" {
		t.Errorf("%+v", got)
	}
}

func TestASizeIsWrittenAsItIsRead(t *testing.T) {
	for text, want := range map[string]size{"0": 0, "1": 1, "4K": 4096, "4097": 4097, "1M": 1 << 20, "64M": 64 << 20, "1G": 1 << 30, "1025K": 1025 << 10} {
		var s size
		must(t, s.Set(text))
		if s != want || s.String() != text {
			t.Errorf("%s: %d, %s", text, s, s.String())
		}
	}
}

func TestProgressTellsBytesRateAndETA(t *testing.T) {
	const want = "524288000 of 1048576000 bytes, 50 %, 104.9 MB/s (100.0 MiB/s), ETA 5s"
	if got := progressLine(500<<20, 1000<<20, 5*time.Second); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const nothing = "0 of 0 bytes, 100 %, 0.0 MB/s (0.0 MiB/s), ETA -"
	if got := progressLine(0, 0, time.Second); got != nothing {
		t.Errorf("got %s, want %s", got, nothing)
	}
}

func TestProgressAndStatisticsAreShownWhenAskedFor(t *testing.T) {
	dir := t.TempDir()
	src := write(t, random(10000), dir, "a")
	got := command(t.Context(), "-progress", "always", "-stats", "-lane", "pinned", "-depth", "2", src, filepath.Join(dir, "b"))
	for _, want := range []string{"10000 of 10000 bytes, 100 %", "MiB/s", "lane pinned: ", "threads of the lane: 2\n", "threads of the process: "} {
		if got.status != exitOK || !strings.Contains(got.errors, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
	verified := command(t.Context(), "-stats", "-verify", src, filepath.Join(dir, "b")).errors
	for _, want := range []string{"copied 10000 bytes in ", "verified 10000 bytes in "} {
		if !strings.Contains(verified, want) {
			t.Errorf("no %q in %s", want, verified)
		}
	}
	ring := command(t.Context(), "-stats", src, filepath.Join(dir, "b")).errors
	if !strings.Contains(ring, "operations native") && !strings.Contains(ring, "no ring") {
		t.Error(ring)
	}
}

// What has been made is taken down when the next thing cannot be had; see TestMain.
func TestAStartThatFailsLeavesNothing(t *testing.T) {
	o := &options{lane: "ring", depth: 4, block: 1 << 62}
	if err := o.copy(t.Context(), newReport(io.Discard, false)); err == nil {
		t.Error("there are no such buffers")
	}
	if _, err := newPool("ring", 4, new(file.Buffers)); err == nil {
		t.Error("these are no buffers")
	}
}
