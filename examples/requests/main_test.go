package main

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/examples/internal/lanes"
	"github.com/iolane/iolane/ioerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// On every lane all calls are made, in every round, and never more at a time than there are
// workers; none is shorter than it is told to be, so that nothing is quicker than is ideal.
func TestAllCallsAreMadeOnEveryLane(t *testing.T) {
	for _, kind := range append(lanes.Names(), "timers") {
		o := &options{n: 7, each: time.Millisecond, workers: []int{1, 3}, lane: kind, rounds: 2}
		results, err := o.measure(t.Context())
		if err != nil {
			t.Fatal(kind, err)
		}
		names, most := []string{"one after another", kind + ", 1", kind + ", 3", "timers"}, []int64{1, 1, 3, 7}
		if kind == "timers" {
			names, most = []string{"one after another", "timers"}, []int64{1, 7}
		}
		if len(results) != len(names) {
			t.Fatalf("%s: got %d rows, want %d", kind, len(results), len(names))
		}
		for i, r := range results {
			if r.name != names[i] || r.calls != 14 {
				t.Errorf("%s: %s: got %d calls, want 14 in %s", kind, r.name, r.calls, names[i])
			}
			if r.atATime > most[i] || r.atATime < 1 && kind != "ring" {
				t.Errorf("%s: %s: got %d at a time, want 1 to %d", kind, r.name, r.atATime, most[i])
			}
			if r.wall < r.ideal {
				t.Errorf("%s: %s: took %v, which is less than %v", kind, r.name, r.wall, r.ideal)
			}
		}
	}
}

func TestIdealIsATurnForEachTimeThatAllWorkersAreBusy(t *testing.T) {
	for _, c := range []struct {
		n, workers int
		want       time.Duration
	}{{100, 1, 500}, {100, 10, 50}, {100, 100, 5}, {101, 100, 10}, {3, 7, 5}} {
		o := &options{n: c.n, each: 5}
		if got := o.ideal(&row{workers: c.workers}); got != c.want {
			t.Errorf("%d calls, %d workers: got %d, want %d", c.n, c.workers, got, c.want)
		}
	}
}

// A row that took too long is an error that names it.
func TestACheckTellsWhatWasMissed(t *testing.T) {
	good, bad := result{name: "good", ideal: 100, wall: 115}, result{name: "bad", ideal: 100, wall: 116}
	if err := good.missed(); err != nil {
		t.Error(err)
	}
	missed, ok := errors.AsType[*missedError](bad.missed())
	if !ok || missed.name != "bad" || !strings.HasPrefix(missed.Error(), "bad: took 1.16 x") {
		t.Error(missed)
	}
}

func TestTheTableHasARowForEachWay(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-n", "3", "-each", "1ms", "-workers", "2", "-rounds", "1"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 calls of 1ms", "ideal", "one after another", "threads, 2", "timers"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("GOMAXPROCS is %d afterwards, want %d", got, procs)
	}
}

// A context that has ended ends the command.
func TestAContextThatHasEndedStartsNoCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, io.Discard, []string{"-each", "1h"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBadFlagsAreNamedWithTheirValues(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"}, {"-n", "x"}, {"-each", "0s"}, {"-each", "-1s"}, {"-workers", "0"}, {"-workers", "1,,2"}, {"-workers", "70000"},
		{"-lane", "moon"}, {"-rounds", "0"}, {"-procs", "-1"},
	} {
		err := run(t.Context(), io.Discard, args)
		if err == nil || !strings.Contains(err.Error(), args[0]) || !strings.Contains(err.Error(), args[1]) {
			t.Error(args, err)
		}
	}
}

// More threads than the runtime stands are refused before it ends the process.
func TestTooManyThreadsAreRefused(t *testing.T) {
	err := run(t.Context(), io.Discard, []string{"-n", "1", "-each", "1ns", "-workers", "20000"})
	if !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Error(err)
	}
}
