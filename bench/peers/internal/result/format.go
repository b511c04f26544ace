package result

import (
	"math"
	"strconv"
)

// duration writes nanoseconds with three digits and a unit.
func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return three(ns) + " ns"
	case ns < 1e6:
		return three(ns/1e3) + " us"
	case ns < 1e9:
		return three(ns/1e6) + " ms"
	}
	return three(ns/1e9) + " s"
}

// three writes a number with three digits that count.
func three(x float64) string {
	switch a := math.Abs(x); {
	case a == 0:
		return "0"
	case a >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// count writes a number that is a whole one in most cases.
func count(x float64) string {
	if r := math.Round(x); math.Abs(x-r) < 0.005 {
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return three(x)
}
