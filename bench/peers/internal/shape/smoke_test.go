package shape

import (
	"runtime"
	"testing"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/result"
)

func needLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("some shapes make system calls of Linux")
	}
}

// Every shape runs on every peer that it fits, and counts what it makes.
func TestEveryShapeRunsOnEveryPeer(t *testing.T) {
	needLinux(t)
	env := Env{Steps: 10, Dir: t.TempDir(), Tiny: true}
	for _, s := range All() {
		t.Run(s.Name, func(t *testing.T) {
			fits := 0
			for _, mk := range peer.All() {
				if !s.Fits(mk) {
					continue
				}
				fits++
				sample, err := s.Measure(env, mk)
				if err != nil {
					t.Error(err)
					continue
				}
				check(t, s, mk, sample)
			}
			if fits < 4 {
				t.Errorf("fits %d peers only", fits)
			}
		})
	}
}

func check(t *testing.T, s Shape, mk peer.Maker, got result.Sample) {
	t.Helper()
	if got.Shape != s.Name || got.Peer != mk.Name {
		t.Errorf("%s, %s: calls itself %s, %s", s.Name, mk.Name, got.Shape, got.Peer)
	}
	if got.Calls < 1 || got.Time <= 0 || got.Threads < 1 {
		t.Errorf("%s, %s: %d calls of %g ns on %d threads", s.Name, mk.Name, got.Calls, got.Time, got.Threads)
	}
	if got.P50 <= 0 || got.P50 > got.P95 || got.P95 > got.P99 || got.P99 > got.Max {
		t.Errorf("%s, %s: percentiles %g, %g, %g, %g", s.Name, mk.Name, got.P50, got.P95, got.P99, got.Max)
	}
}

// The road that a real measurement takes, which tiny ones cut short.
func TestLoopsAndEpisodesFillTheirBudget(t *testing.T) {
	needLinux(t)
	env := Env{Budget: 2e6, Steps: 100, Dir: t.TempDir()}
	makers := peer.All()
	for _, s := range All() {
		if s.Once {
			continue
		}
		for _, mk := range makers {
			if mk.Name != "iolane" {
				continue
			}
			sample, err := s.Measure(env, mk)
			if err != nil {
				t.Error(err)
				continue
			}
			check(t, s, mk, sample)
		}
	}
}
