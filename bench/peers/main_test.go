package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/result"
	"github.com/iolane/iolane/bench/peers/internal/shape"
)

// The command starts itself for each measurement. In a test that is the test's
// program, which this makes act as the command.
const asCommand = "PEERS_TEST_ACTS_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	for name, value := range map[string]string{
		asCommand: "1",
		"GORACE":  "atexit_sleep_ms=0", // the race detector has each process wait a second at its end
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

func TestMeasureThenShow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("measures system calls of Linux")
	}
	out := filepath.Join(t.TempDir(), "results.json")
	do := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if err := run(args, &stdout, &stderr); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr.String())
		}
		return stdout.String()
	}
	common := []string{"-tiny", "-rounds", "2", "-steps", "10", "-out", out, "-lock", out + ".lock", "-peers", "bare,iolane,x-*,mutex-s*"}
	do(append(common, "-shapes", "dispatch,transactions")...)
	f, err := result.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	// dispatch and its fellows on three peers, tx-* on two, twice each.
	if got, want := len(f.Samples), 2*(6*3+8*2+2); got != want {
		t.Errorf("%d samples, want %d", got, want)
	}
	do(append(common, "-shapes", "fsync-16,dispatch", "-add")...)
	if f, err = result.Load(out); err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(f.Shapes))
	for i, s := range f.Shapes {
		names[i] = s.Name
	}
	if !slices.Equal(names[:7], []string{"dispatch", "dispatch-ctx", "failure", "capture", "dispatch-16", "dispatch-par", "fsync-16"}) || len(names) != 16 {
		t.Errorf("shapes %v", names)
	}
	if len(f.Runs) != 2 || f.Shapes[6].Run != 1 || f.Shapes[7].Run != 0 {
		t.Errorf("runs are mixed up: %v", f.Shapes)
	}
	if table := do("-table", out, "-shapes", "fsync-16"); !strings.Contains(table, "`fsync-16`") || strings.Contains(table, "`dispatch`") {
		t.Errorf("table of fsync-16:\n%s", table)
	}
	if svg := do("-svg", out); strings.Count(svg, `class="panel"`) != 16 {
		t.Errorf("svg:\n%s", svg)
	}
	var stdout, stderr bytes.Buffer
	if err := run([]string{"-check", out}, &stdout, &stderr); !errors.Is(err, errMissed) {
		t.Errorf("check: %v\n%s", err, stdout.String())
	}
	stdout.Reset()
	err = run([]string{"-check", out, "-shapes", "capture"}, &stdout, &stderr)
	if check := stdout.String(); !strings.Contains(check, "targets: 1;") || err != nil && !errors.Is(err, errMissed) {
		t.Errorf("check of capture: %v\n%s", err, check)
	}
}

func TestAFailedMeasurementIsWrittenDown(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results.json")
	var stdout, stderr bytes.Buffer
	err := run([]string{
		"-tiny", "-rounds", "1", "-steps", "1", "-out", out, "-peers", "bare", "-shapes", "fsync-16,dispatch",
		"-dir", filepath.Join(t.TempDir(), "is not there"),
	}, &stdout, &stderr)
	if err == nil {
		t.Error("no error")
	}
	f, err := result.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Failures) != 1 || f.Failures[0].Shape != "fsync-16" || len(f.Samples) != 6 {
		t.Errorf("got %d failures, %d samples: %v", len(f.Failures), len(f.Samples), f.Failures)
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-shapes", "dispatch,nonsense"}, {"-peers", "nonsense"}, {"-rounds", "0"}, {"stray"}, {"-nonsense"},
		{"-child", "dispatch/nonsense"}, {"-table", "not there"},
	} {
		var stdout, stderr bytes.Buffer
		if err := run(args, &stdout, &stderr); err == nil {
			t.Errorf("%v: no error", args)
		} else if got, want := errors.Is(err, flag.ErrHelp), args[0] == "-nonsense"; got != want {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// What targets name is there to be measured, unless it is yet to come.
func TestTargetsNameShapesAndPeersThatAreThere(t *testing.T) {
	makers := make(map[string]peer.Maker)
	for _, mk := range peer.All() {
		makers[mk.Name] = mk
	}
	shapes := make(map[string]shape.Shape)
	for _, s := range shape.All() {
		shapes[s.Name] = s
	}
	there := func(shapeName, peerName string) bool {
		s, ok := shapes[shapeName]
		mk, ok2 := makers[peerName]
		return ok && ok2 && s.Fits(mk)
	}
	for _, target := range result.Targets() {
		if ours := there(target.Shape, target.Peer); ours != (target.Waits == "") {
			t.Errorf("%s: %s at %s: there: %v, waits: %q", target.Row, target.Peer, target.Shape, ours, target.Waits)
		}
		if target.Than.Peer == "" {
			continue
		}
		name := target.Than.Shape
		if name == "" {
			name = target.Shape
		}
		if !there(name, target.Than.Peer) {
			t.Errorf("%s: set against %s at %s, which is not there", target.Row, target.Than.Peer, name)
		}
	}
}

// A file that names a version to read should name them all.
func TestEveryLibraryIsNamedWithItsVersion(t *testing.T) {
	if got, want := len(modules()), len(measured()); got != want {
		t.Errorf("%d of %d modules have a version: %v", got, want, modules())
	}
}
