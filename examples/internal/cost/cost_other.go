//go:build !linux && !darwin

package cost

// Now is what the process has cost so far.
func Now() Cost { return Cost{} }
