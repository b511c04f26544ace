package threadlimit_test

import (
	"testing"

	"github.com/iolane/iolane/internal/threadlimit"
)

// BenchmarkClaim: a lane comes and goes.
func BenchmarkClaim(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := threadlimit.Claim("", 1)
		if err != nil {
			b.Fatal(err)
		}
		s.Release()
	}
}

// BenchmarkRead: the limits of the system are read, for the first lane.
func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		_ = threadlimit.System()
	}
}
