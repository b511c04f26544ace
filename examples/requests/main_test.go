package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/examples/internal/lanes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The same program runs on each lane: one line for each way, and none is quicker than it can be.
func TestEachLane(t *testing.T) {
	for _, name := range lanes.Names() {
		var out strings.Builder
		if err := run(context.Background(), &out, []string{"-n", "6", "-each", "1ms", "-workers", "1,3", "-lane", name}); err != nil {
			t.Fatal(name, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 4 {
			t.Errorf("%s: %q", name, out.String())
		}
		for _, line := range lines {
			if strings.Contains(line, "ratio 0.") {
				t.Errorf("%s: quicker than it can be: %s", name, line)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-each", "0"}, {"-rounds", "0"}, {"-workers", "1,x"}, {"-workers", "0"}, {"-lane", "moon"}} {
		err := run(context.Background(), io.Discard, args)
		if err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
