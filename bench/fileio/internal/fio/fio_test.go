package fio

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/bench/fileio/internal/work"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReportsOfFioAreRead(t *testing.T) {
	for name, want := range map[string]Report{
		"testdata/randread.json": {
			Ops: 69843, Bytes: 286076928, Elapsed: 1001 * time.Millisecond, CPU: 665665 * time.Microsecond,
			P50: 577536, P99: 8978432,
		},
		"testdata/write-best.json": { // gtod_reduce: no latencies
			Ops: 128, Bytes: 64 << 20, Elapsed: 45 * time.Millisecond, CPU: 10227272 * time.Nanosecond,
		},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(append([]byte("fio: this is a note\n"), text...))
		if err != nil {
			t.Fatal(err)
		}
		got.CPU = got.CPU.Round(time.Microsecond)
		want.CPU = want.CPU.Round(time.Microsecond)
		if got != want {
			t.Errorf("%s:\n%+v\n%+v", name, got, want)
		}
	}
}

func TestReportsThatSayNothingAreErrors(t *testing.T) {
	for _, text := range []string{
		"", "fio: no such file", "{", `{"jobs": []}`, `{"jobs": [{"error": 5, "read": {"total_ios": 1}}]}`,
		`{"jobs": [{"read": {"total_ios": 0}, "write": {"total_ios": 0}}]}`,
	} {
		if r, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// fio 3.33 takes a fraction of a second for no time at all.
func TestFioIsGivenWholeSecondsOrNoTime(t *testing.T) {
	for _, d := range []time.Duration{time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second} {
		c := work.Case{Block: 4096, Depth: 64, Size: 1 << 30, Range: 1 << 30, Cache: work.Direct, Time: d}
		args := Args(c, work.Read, "x", false)
		var runtime string
		for _, a := range args {
			if value, ok := strings.CutPrefix(a, "--runtime="); ok {
				runtime = value
			}
		}
		want := map[time.Duration]string{time.Millisecond: "", time.Second: "1", 1500 * time.Millisecond: "2", 2 * time.Second: "2"}[d]
		if runtime != want || slices.Contains(args, "--time_based=1") != (want != "") {
			t.Errorf("%v: %v", d, args)
		}
	}
}

func TestTheBestFioSubmitsAQuarterOfTheDepth(t *testing.T) {
	for depth, want := range map[int]string{1: "1", 4: "1", 64: "16", 256: "64"} {
		c := work.Case{Block: 4096, Depth: depth, Cache: work.Hot, Time: time.Second}
		if args := Args(c, work.Read, "x", true); !slices.Contains(args, "--iodepth_batch_submit="+want) ||
			!slices.Contains(args, "--invalidate=0") || !slices.Contains(args, "--direct=0") {
			t.Error(depth, args)
		}
	}
}
