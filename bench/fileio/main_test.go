package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/bench/fileio/internal/contender"
	"github.com/iolane/iolane/bench/fileio/internal/result"
	"github.com/iolane/iolane/bench/fileio/internal/system"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// asCommand makes the test binary be the command itself, which starts itself again.
const asCommand = "FILEIO_TEST_AS_COMMAND"

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
	goleak.VerifyTestMain(m)
}

func do(t testing.TB, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	return stdout.String()
}

func supported(t testing.TB) {
	t.Helper()
	if err := system.Supported(); err != nil {
		t.Skip(err)
	}
}

func TestMeasureThenShow(t *testing.T) {
	supported(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "results.json")
	do(t, "-quick", "-rounds", "2", "-shape", "nop,seq", "-peers", "threads,pread,fio-plain", "-size", "1m",
		"-dir", dir, "-json", out, "-lock", out+".lock")
	do(t, "-quick", "-shape", "nop,timers", "-depths", "64", "-peers", "threads,os", "-dir", dir, "-json", out, "-add")
	f, err := result.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	cases := f.Cases()
	slices.Sort(cases)
	if want := []string{"nop/4", "nop/64", "seq/read", "seq/write", "timers/500"}; !slices.Equal(cases, want) && !slices.Contains(absent(f), "seq") {
		t.Errorf("%v, %v", cases, f.Absent)
	}
	if n := len(f.Of("nop/4", "threads")); n != 2 || len(f.Runs) != 2 {
		t.Errorf("%d samples, %d runs", n, len(f.Runs))
	}
	if table := do(t, "-table", out, "-against", "threads"); !strings.Contains(table, "| nop/64") || !strings.Contains(table, "/ threads") {
		t.Error(table)
	}
	if check := do(t, "-check", out); !strings.Contains(check, "32 not measured") {
		t.Error(check)
	}
	left, err := filepath.Glob(filepath.Join(dir, "fileio*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func absent(f *result.File) []string {
	var all []string
	for _, a := range f.Absent {
		all = append(all, a.Case)
	}
	return all
}

func TestAFailedMeasurementIsWrittenDown(t *testing.T) {
	supported(t)
	out := filepath.Join(t.TempDir(), "results.json")
	b := &bench{options: options{rounds: 1}, place: new(place), file: new(result.File), stderr: &bytes.Buffer{}}
	b.peers = []contender.Contender{{Name: "nobody", Unfit: func(work.Case) string { return "" }}}
	if n, err := b.one(t.Context(), work.Cases("nop", work.Params{Quick: true, Time: 1})[0]); n != 1 || err != nil {
		t.Error(n, err)
	}
	if err := b.file.Save(out); err != nil {
		t.Fatal(err)
	}
	f, err := result.Load(out)
	if err != nil || len(f.Absent) != 1 || !f.Absent[0].Failed || !strings.Contains(f.Absent[0].Reason, "nobody") {
		t.Errorf("%v: %+v", err, f)
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-shape", "nonsense"}, {"-peers", "nonsense"}, {"-cases", "nonsense"}, {"-rounds", "0"}, {"stray"}, {"-nonsense"},
		{"-time", "700ms"}, {"-size", "12"}, {"-size", "many"}, {"-depths", "0"}, {"-check", "not there"}, {"-child", "nonsense"},
	} {
		if supportedErr := system.Supported(); supportedErr != nil && (args[0] == "-shape" || args[0] == "-peers" || args[0] == "-cases") {
			continue
		}
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, &stdout, &stderr); err == nil {
			t.Errorf("%v: no error", args)
		} else if args[0] == "-nonsense" && !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// What targets name is there to be measured.
func TestTargetsNameCasesAndContendersThatAreThere(t *testing.T) {
	peers := make(map[string]contender.Contender)
	for _, c := range contender.All() {
		peers[c.Name] = c
	}
	cases := make(map[string]work.Case)
	for _, shape := range work.Shapes() {
		for _, c := range work.Cases(shape, work.Params{}) {
			cases[c.Name] = c
			if c.Sequential {
				cases[c.Name+"/read"], cases[c.Name+"/write"] = c, c
			}
		}
	}
	for _, target := range result.Targets() {
		c, ok := cases[strings.TrimPrefix(target.Case, "loop/")]
		if !ok {
			t.Errorf("%+v: there is no such case", target)
			continue
		}
		names := []string{target.Contender}
		if target.Metric == result.Ratio {
			names = append(names, target.Than)
		}
		for _, name := range names {
			if p, ok := peers[name]; !ok || p.Unfit(c) != "" {
				t.Errorf("%+v: %s cannot be measured there", target, name)
			}
		}
	}
}

func TestListNamesAll(t *testing.T) {
	out := do(t, "-list")
	for _, want := range []string{"rand/half/read/64", "goroutines/1024", "timers/50000", "fio-best", "ring-batch"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// BenchmarkQuick is every contender and every shape, so that none rots.
func BenchmarkQuick(b *testing.B) {
	supported(b)
	for b.Loop() {
		do(b, "-quick", "-dir", b.TempDir())
	}
}
