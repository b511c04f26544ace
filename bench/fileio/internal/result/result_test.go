package result

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rates makes samples, one a round, of so many operations a second.
func rates(name, contender string, each ...int64) []Sample {
	var all []Sample
	for i, n := range each {
		all = append(all, Sample{Case: name, Contender: contender, Round: i, Ops: n, Bytes: n * 4096, Elapsed: time.Second})
	}
	return all
}

func TestARatioIsTakenWithinTheRound(t *testing.T) {
	// The machine was twice as fast in the second round, for all.
	ours, theirs := rates("c", "a", 110, 220, 99), rates("c", "b", 100, 200, 100)
	if got := PairedRatio(ours, theirs); math.Abs(got-1.1) > 1e-9 {
		t.Error(got)
	}
	if got := BestRatio(ours, theirs); math.Abs(got-1.1) > 1e-9 {
		t.Error(got)
	}
	// A round that one of them missed does not count.
	if got := PairedRatio(ours[1:2], theirs); math.Abs(got-1.1) > 1e-9 {
		t.Error(got)
	}
	if got := PairedRatio(ours[:1], theirs[1:]); !math.IsNaN(got) {
		t.Error(got)
	}
	if !math.IsNaN(BestRatio(nil, theirs)) || !math.IsNaN(PairedRatio(nil, nil)) {
		t.Error("nothing has a ratio")
	}
}

func TestMedianOfAnEvenNumberIsBetween(t *testing.T) {
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Error(got)
	}
}

func TestTargetsAreJudgedByTheirKind(t *testing.T) {
	s := rates("c", "a", 100)
	s[0].P99, s[0].Threads, s[0].RSS, s[0].Elapsed = time.Millisecond, 7, 5e6, 2*time.Second
	f := &File{Samples: append(s, rates("c", "b", 100)...), Runs: []Run{{Machine: Machine{Procs: 2}}}}
	for _, x := range []struct {
		metric    Metric
		must, aim float64
		want      Verdict
	}{
		{Ratio, 0.4, 0.5, Aimed},
		{Ratio, 0.5, 0.6, Met},
		{Ratio, 0.6, 0.7, Missed},
		{Rate, 40, 60, Met},
		{P99, 2e-3, 1e-3, Aimed},
		{P99, 2e-3, 0.5e-3, Met},
		{P99, 0.9e-3, 0.5e-3, Missed},
		{Elapsed, 2.1, 1.9, Met},
		{RSS, 6e6, 4e6, Met},
		{Threads, 5, 5, Aimed},
		{Threads, 4, 4, Missed},
	} {
		got, value := f.Judge(Target{Case: "c", Contender: "a", Than: "b", Metric: x.metric, Must: x.must, Aim: x.aim})
		if got != x.want {
			t.Errorf("%+v: %v (%v)", x, got, value)
		}
	}
	for _, absent := range []Target{
		{Case: "c", Contender: "nobody", Metric: RSS, Must: 1, Aim: 1},
		{Case: "c", Contender: "a", Than: "nobody", Metric: Ratio},
		{Case: "c", Contender: "b", Metric: P99, Must: 1, Aim: 1}, // it was not timed
		{Case: "c", Contender: "b", Metric: Threads, Must: 1, Aim: 1},
	} {
		if got, value := f.Judge(absent); got != Unproven {
			t.Errorf("%+v: %v (%v)", absent, got, value)
		}
	}
}

func TestTheCheckNamesEveryTarget(t *testing.T) {
	f := &File{Samples: append(rates("nop/64", "ring-fiber", 3_500_000), rates("nop/64", "ring-goroutine", 9)...)}
	var b strings.Builder
	if err := f.Check(&b, Targets()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3.50 M/s | met", "0.00 M/s |  MISSED", "32 targets: 1 met, 0 of them with what is aimed at; 1 missed; 30 not measured"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestTheTableHasBothUnits(t *testing.T) {
	f := &File{
		Samples: append(rates("c", "a", 1<<18, 1<<18), rates("c", "b", 1<<17, 1<<18)...),
		Absent:  []Absence{{Contender: "fio-plain", Reason: "there is no fio"}},
	}
	var b strings.Builder
	if err := f.Table(&b, []string{"b", "nobody"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 1.074 | 1.000 | 262144 | 1.500 |", "left out: fio-plain"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.json")
	f := &File{Samples: append(rates("c", "a", 1, 2), rates("d", "a", 3)...), Runs: []Run{{Place: "here"}}}
	if err := f.Save(name); err != nil {
		t.Fatal(err)
	}
	got, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f, got) {
		t.Errorf("%+v\n%+v", f, got)
	}
	got.Drop("c")
	if len(got.Samples) != 1 || got.Samples[0].Case != "d" {
		t.Error(got.Samples)
	}
	if err := (&File{Samples: []Sample{{Ops: 1}}}).Save(name); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(name); err == nil {
		t.Error("a sample without time was loaded")
	}
}
