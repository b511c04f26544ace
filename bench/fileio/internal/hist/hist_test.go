package hist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQuantilesAreRightToTwoPercent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h Hist
	all := make([]time.Duration, 20000)
	for i := range all {
		all[i] = time.Duration(math.Exp(random.Float64() * 20)) // 1 ns to 0.5 s
		h.Add(all[i])
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[int(math.Ceil(q*float64(len(all))))-1]
		got := h.Quantile(q)
		if off := math.Abs(float64(got-want)) / float64(want); off > 0.02 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

func TestSmallValuesAreExactAndLargeOnesAreKept(t *testing.T) {
	for v := range time.Duration(2 * sub) {
		var h Hist
		h.Add(v)
		if got := h.Quantile(0.5); got != v {
			t.Errorf("%v became %v", v, got)
		}
	}
	var h Hist
	h.Add(-1)
	h.Add(time.Hour)
	if h.Quantile(0) != 0 || h.Quantile(1) < time.Minute || h.Count() != 2 {
		t.Errorf("%v to %v, %d", h.Quantile(0), h.Quantile(1), h.Count())
	}
}

func TestBucketsAreInOrderAndWithoutGaps(t *testing.T) {
	last := 0
	for v := uint64(0); v <= 1<<20; v++ {
		i := bucket(v)
		if i != last && i != last+1 {
			t.Fatalf("bucket of %d is %d after %d", v, i, last)
		}
		last = i
	}
	if i := bucket(longest); i != buckets-1 {
		t.Errorf("bucket of the longest is %d of %d", i, buckets)
	}
}

func TestMergedIsAsIfCountedTogether(t *testing.T) {
	var a, b, both Hist
	for i := range 1000 {
		short, long := time.Duration(i), time.Duration(i*i)
		a.Add(short)
		b.Add(long)
		both.Add(short)
		both.Add(long)
	}
	a.Merge(&b)
	if a != both {
		t.Error("they differ")
	}
	if new(Hist).Quantile(0.5) != 0 {
		t.Error("nothing has a median")
	}
}
