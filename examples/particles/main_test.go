package main

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/examples/internal/lanes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever the lane, the workers and the chunks, the result is that of a plain loop.
func TestTheResultIsTheSame(t *testing.T) {
	sum := regexp.MustCompile(`sum ([0-9a-f]{16})`)
	for _, name := range lanes.Names() {
		for _, chunk := range []string{"1000000", "100", "77"} {
			var out strings.Builder
			if err := run(context.Background(), &out, []string{"-n", "1000", "-steps", "300", "-chunk", chunk, "-workers", "1,3", "-lane", name}); err != nil {
				t.Fatal(name, err)
			}
			sums := sum.FindAllString(out.String(), -1)
			if len(sums) != 3 || sums[1] != sums[0] || sums[2] != sums[0] {
				t.Errorf("%s, %s: %v", name, chunk, sums)
			}
		}
	}
}

// Particles stay in their box, and do move.
func TestParticlesStayInTheirBox(t *testing.T) {
	w := newWorld(1000)
	before := w.sum()
	for range 1000 {
		w.step(0, 1000)
	}
	if w.sum() == before {
		t.Error("nothing moves")
	}
	for i := range w.x {
		if w.x[i] < 0 || w.x[i] > 1 || w.y[i] < 0 || w.y[i] > 1 {
			t.Fatal(i, w.x[i], w.y[i])
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-steps", "0"}, {"-chunk", "-1"}, {"-workers", "1,x"}, {"-lane", "moon"}} {
		err := run(context.Background(), io.Discard, args)
		if err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
