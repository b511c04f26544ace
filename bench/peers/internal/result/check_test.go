package result

import (
	"bytes"
	"slices"
	"testing"
)

func TestVerdicts(t *testing.T) {
	f := load(t)
	for _, c := range []struct {
		name   string
		target Target
		want   Verdict
	}{
		{"met", Target{Shape: "dispatch", Peer: threads, Metric: Time, Max: 0.66, Than: than("x-semaphore")}, Pass},
		{"missed", Target{Shape: "dispatch", Peer: threads, Metric: Time, Max: 0.5, Than: than("x-semaphore")}, Miss},
		{"the best is the fastest", Target{Shape: "loop-64-2us", Peer: threads, Metric: Time, Max: 0.8, Than: best(BoundedPeers)}, Pass},
		{"of the best its tail", Target{Shape: "loop-64-2us", Peer: threads, Metric: P99, Max: 0.1, Than: best(BoundedPeers)}, Pass},
		{"the best of the others", Target{Shape: "loop-64-2us", Peer: threads, Metric: Time, Max: 0.42, Than: best(WorkerPools)}, Pass},
		{"no allocation", Target{Shape: "dispatch", Peer: threads, Metric: Allocs}, Pass},
		{"too many", Target{Shape: "dispatch", Peer: "ants", Metric: Allocs, Max: 2}, Miss},
		{"by itself", Target{Shape: "dispatch", Peer: threads, Metric: Time, Max: 20}, Miss},
		{"another shape", Target{Shape: "dispatch", Peer: threads, Metric: Time, Max: 0.1, Than: Than{Peer: threads, Shape: "loop-64-2us"}}, Pass},
		{"no such peer", Target{Shape: "dispatch", Peer: threads, Metric: Time, Max: 1, Than: than("pond")}, Absent},
		{"no such shape", Target{Shape: "pread", Peer: threads, Metric: Time, Max: 1, Than: best(BoundedPeers)}, Absent},
		{"not ours to measure yet", Target{Shape: "dispatch", Peer: "iolane-pinned", Metric: Allocs, Waits: "x"}, Waits},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := f.Judge(c.target); got.Verdict != c.want {
				t.Errorf("got %s (%v, against %s), want %s", got.Verdict, got.Got, got.Against, c.want)
			}
		})
	}
}

func TestCheckIsOKWhenEverythingThatCanBeIsMet(t *testing.T) {
	var b bytes.Buffer
	ok, err := load(t).Check(&b, []Target{
		{Shape: "dispatch", Peer: threads, Metric: Allocs},
		{Shape: "dispatch", Peer: "iolane-pinned", Metric: Allocs, Waits: "x"},
	})
	if !ok || err != nil {
		t.Errorf("got %v, %v:\n%s", ok, err, b.String())
	}
}

func TestARatioIsTakenRoundByRound(t *testing.T) {
	var f File
	for round, times := range [][2]float64{{10, 20}, {100, 200}, {30, 10}} {
		f.Samples = append(f.Samples,
			Sample{Shape: "s", Peer: "a", Round: round, Time: times[0]}, Sample{Shape: "s", Peer: "b", Round: round, Time: times[1]})
	}
	f.Samples = append(f.Samples, Sample{Shape: "s", Peer: "a", Round: 3, Time: 1}) // b has no such round
	got, ok := f.Ratio(Point{"s", "a"}, Point{"s", "b"}, Time)
	if want := (Spread{0.5, 0.5, 3}); got != want || !ok {
		t.Errorf("got %v, %v, want %v", got, ok, want)
	}
}

func TestPercentiles(t *testing.T) {
	ns := make([]int64, 1000)
	for i := range ns {
		ns[i] = int64(999 - i)
	}
	var s Sample
	s.SetLatencies(ns)
	if s.P50 != 500 || s.P95 != 950 || s.P99 != 990 || s.Max != 999 {
		t.Errorf("got %g, %g, %g, %g", s.P50, s.P95, s.P99, s.Max)
	}
	s.SetLatencies([]int64{7})
	if s.P50 != 7 || s.Max != 7 {
		t.Errorf("of one: got %g, %g", s.P50, s.Max)
	}
}

func TestMeasuringAShapeAgainDropsWhatWasMeasuredBefore(t *testing.T) {
	f := load(t)
	f.Runs = append(f.Runs, f.Runs[0])
	f.Begin(Shape{Name: "dispatch", Group: "dispatch"})
	if slices.ContainsFunc(f.Samples, func(s Sample) bool { return s.Shape == "dispatch" }) || len(f.Failures) != 0 {
		t.Error("old samples are left")
	}
	f.Order([]string{"dispatch", "loop-64-2us"}, []string{"ants"})
	if f.Shapes[0].Name != "dispatch" || f.Shapes[0].Run != 1 || len(f.Shapes) != 2 || f.Peers[0].Name != "ants" {
		t.Errorf("got %v, %v", f.Shapes, f.Peers)
	}
}
