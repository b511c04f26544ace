package result

import (
	"math"
	"slices"
)

// median of the values; NaN of none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(n-1)/2] + s[n/2]) / 2
}

// medianOf a metric.
func medianOf(all []Sample, metric func(*Sample) float64) float64 {
	values := make([]float64, len(all))
	for i := range all {
		values[i] = metric(&all[i])
	}
	return median(values)
}

// rate is Sample.Rate as a function.
func rate(s *Sample) float64 { return s.Rate() }

// PairedRatio is the median, over the rounds that both were in, of the ratio of their
// rates. What disturbs a whole round falls out. NaN if there is no such round.
func PairedRatio(ours, theirs []Sample) float64 {
	var ratios []float64
	for i := range ours {
		for j := range theirs {
			if ours[i].Round == theirs[j].Round {
				ratios = append(ratios, ours[i].Rate()/theirs[j].Rate())
				break
			}
		}
	}
	return median(ratios)
}

// BestRatio is the ratio of the best rates: of the rounds that were disturbed least.
func BestRatio(ours, theirs []Sample) float64 { return best(ours) / best(theirs) }

func best(all []Sample) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	return highest(all, rate)
}
