package main

import (
	"context"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/ioerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The same number of tasks sleeps as long on every lane.
func TestAllSleepAsLongAsTheyAreTold(t *testing.T) {
	for _, kind := range []string{"timers", "ring", "threads"} {
		if kind == "threads" && runtime.GOOS != "linux" {
			continue
		}
		var out strings.Builder
		began := time.Now()
		if err := run(context.Background(), &out, []string{"-n", "200", "-for", "50ms", "-lane", kind}); err != nil {
			t.Fatal(kind, err)
		}
		if took := time.Since(began); took < 50*time.Millisecond {
			t.Error(kind, took)
		}
		if !regexp.MustCompile(`^200 tasks of 50ms in [0-9.]+ s, [0-9.]+ s of processor time, [0-9.]+ MB\n$`).MatchString(out.String()) {
			t.Errorf("%s: %q", kind, out.String())
		}
	}
}

// More threads than the runtime stands are refused before it ends the process.
func TestTooManyThreadsAreRefused(t *testing.T) {
	err := run(context.Background(), io.Discard, []string{"-n", "20000", "-lane", "threads"})
	if !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Error(err)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-for", "-1s"}, {"-lane", "moon"}} {
		if err := run(context.Background(), io.Discard, args); err == nil || !strings.Contains(err.Error(), args[1]) {
			t.Error(args, err)
		}
	}
}
