package result

import "slices"

// Median is the middle of some numbers, or the mean of the two in the middle.
func Median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// A Point is a peer at a shape.
type Point struct{ Shape, Peer string }

// rounds returns the metric of each round.
func (f *File) rounds(p Point, m Metric) map[int]float64 {
	values := make(map[int]float64)
	for _, s := range f.Samples {
		if s.Shape == p.Shape && s.Peer == p.Peer {
			values[s.Round] = m.Of(s)
		}
	}
	return values
}

// Median is the median of a metric over all rounds, and whether there is one.
func (f *File) Median(p Point, m Metric) (float64, bool) {
	rounds := f.rounds(p, m)
	if len(rounds) == 0 {
		return 0, false
	}
	var v []float64
	for _, x := range rounds {
		v = append(v, x)
	}
	return Median(v), true
}

// A Spread is a median and the least and greatest of what it is the median of.
type Spread struct{ Low, Median, High float64 }

func spreadOf(v []float64) (Spread, bool) {
	if len(v) == 0 {
		return Spread{}, false
	}
	return Spread{slices.Min(v), Median(v), slices.Max(v)}, true
}

// Spread is the metric over all rounds, and whether it was measured.
func (f *File) Spread(p Point, m Metric) (Spread, bool) {
	var v []float64
	for _, x := range f.rounds(p, m) {
		v = append(v, x)
	}
	return spreadOf(v)
}

// Ratio is a metric of a divided by that of b, round by round, and whether there is
// a round with both. Since the samples of one round were made one after another, the
// ratio of a round suffers less from what else the machine did than a ratio of medians.
func (f *File) Ratio(a, b Point, m Metric) (Spread, bool) {
	over := f.rounds(b, m)
	var v []float64
	for round, x := range f.rounds(a, m) {
		if y, ok := over[round]; ok && y != 0 {
			v = append(v, x/y)
		}
	}
	return spreadOf(v)
}

// Efficiency is the ideal time divided by the real one, of shapes that have an
// ideal.
func (f *File) Efficiency(s Shape, peer string) (float64, bool) {
	t, ok := f.Median(Point{s.Name, peer}, Time)
	if !ok || s.Ideal == 0 || t == 0 {
		return 0, false
	}
	return s.Ideal / t, true
}

// A Class is a sort of peers.
type Class string

// The classes of which the best is looked for.
const (
	BoundedPeers Class = "bounded peer" // everything that keeps to a limit and is not ours
	WorkerPools  Class = "worker pool"  // of these, who hand calls to other goroutines
)

func (c Class) has(p Peer) bool {
	switch c {
	case BoundedPeers:
		return p.Bounded && !p.Ours
	case WorkerPools:
		return p.Bounded && !p.Ours && p.Kind == "hand-off"
	}
	panic("result: no such class: " + string(c))
}

// Best is the peer of a class with the lowest median time at a shape, out of how
// many; "" if none was measured.
func (f *File) Best(shape string, c Class) (name string, of int) {
	var least float64
	for _, p := range f.Peers {
		if !c.has(p) {
			continue
		}
		t, ok := f.Median(Point{shape, p.Name}, Time)
		if !ok {
			continue
		}
		if of++; of == 1 || t < least {
			name, least = p.Name, t
		}
	}
	return name, of
}
