package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iolane/iolane/ioerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kinds() []string { return []string{"threads", "sharded", "inline", "pinned", "abandoning"} }

// What comes out is the same to the last bit on every lane, with any number of workers, in
// chunks of any size; and a plain loop is what it is compared with.
func TestTheResultDependsOnNeitherWorkersNorChunksNorLane(t *testing.T) {
	const n, steps = 300, 7
	all := scatter(n)
	for range steps {
		move(all)
	}
	want := sum(all)
	for _, kind := range kinds() {
		for _, chunk := range []int{1, 3, 64, 299, 300, 301, 1 << 30} {
			if chunk == 1 && kind == "pinned" {
				continue // thousands of threads to wake
			}
			o := &options{n: n, steps: steps, chunk: chunk, workers: []int{1, 2, 4}, lane: kind, rounds: 1}
			results, err := o.measure(t.Context())
			if err != nil {
				t.Fatal(kind, chunk, err)
			}
			if len(results) != 4 {
				t.Fatalf("%s: got %d rows, want 4", kind, len(results))
			}
			for _, r := range results {
				if r.sum != want {
					t.Errorf("%s, chunks of %d: got %x, want %x", r.name, chunk, r.sum, want)
				}
			}
		}
	}
}

// The result is the same on every processor and with every version of Go.
func TestTheResultIsTheSameEverywhere(t *testing.T) {
	all := scatter(1000)
	for range 100 {
		move(all)
	}
	if got, want := sum(all), uint64(0x1607308980d13e00); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

// A single bit of a single particle makes another sum, and so do two that change places.
func TestTheSumTellsEveryBit(t *testing.T) {
	want := sum(scatter(10))
	for axis := range 3 {
		for _, change := range []func(*particle){
			func(p *particle) { p.at[axis] = -p.at[axis] },
			func(p *particle) { p.speed[axis] = -p.speed[axis] },
		} {
			all := scatter(10)
			if change(&all[9]); sum(all) == want {
				t.Error("axis", axis)
			}
		}
	}
	all := scatter(10)
	all[0], all[1] = all[1], all[0]
	if sum(all) == want {
		t.Error("two have changed places")
	}
}

func TestWallsThrowParticlesBack(t *testing.T) {
	all := []particle{{at: [3]float64{0.999, 0.001, 0.5}, speed: [3]float64{0.5, -0.5, 0.25}}}
	for range 10_000 {
		move(all)
		for axis, at := range all[0].at {
			if at < -0.01 || at > 1.01 {
				t.Fatal(axis, at)
			}
		}
	}
}

// No call of a step begins before the last of the step before has ended.
func TestAStepBeginsWhenTheLastHasEndedEverywhere(t *testing.T) {
	for _, kind := range kinds() {
		o := &options{n: 40, steps: 50, chunk: 3, workers: []int{4}, lane: kind}
		r, err := o.pooled(4)
		if err != nil {
			t.Fatal(kind, err)
		}
		done := make([]int, o.n) // without a lock: the race detector would object
		for step := range o.steps {
			err := r.each(t.Context(), func(from, to int) {
				for i := from; i < to; i++ {
					done[i]++
				}
			})
			if err != nil {
				t.Fatal(kind, err)
			}
			if slices.Min(done) != step+1 || slices.Max(done) != step+1 {
				t.Fatalf("%s: after step %d: %v", kind, step, done)
			}
		}
		if err := r.end(); err != nil {
			t.Error(kind, err)
		}
	}
}

func TestTheTableHasARowForEachNumberOfWorkers(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-n", "100", "-steps", "2", "-chunk", "9", "-workers", "1,3", "-rounds", "2"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100 particles of 48 bytes, 2 steps", "plain loop", "threads, 1", "threads, 3", "copy GB/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestAStepReadsAndWritesEachParticle(t *testing.T) {
	o := &options{n: 1000, steps: 10}
	if got, want := o.speed(time.Millisecond), 0.96; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("got %v GB/s, want %v", got, want)
	}
}

// A context that has ended ends the command, with all that it has begun.
func TestAContextThatHasEndedMovesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, kind := range kinds() {
		if err := run(ctx, io.Discard, []string{"-n", "100", "-lane", kind}); !errors.Is(err, context.Canceled) {
			t.Error(kind, err)
		}
	}
}

// A lane that cannot be made is an error, and leaves nothing of those that were.
func TestTooManyThreadsAreRefused(t *testing.T) {
	err := run(t.Context(), io.Discard, []string{"-n", "1", "-workers", "1,20000"})
	if !errors.Is(err, ioerr.ErrThreadLimit) {
		t.Error(err)
	}
}

func TestBadFlagsAreNamedWithTheirValues(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"}, {"-n", "x"}, {"-steps", "0"}, {"-chunk", "-1"}, {"-workers", "0"}, {"-workers", "a"}, {"-workers", "1,70000"},
		{"-lane", "ring"}, {"-rounds", "0"},
	} {
		err := run(t.Context(), io.Discard, args)
		if err == nil || !strings.Contains(err.Error(), args[0]) || !strings.Contains(err.Error(), args[1]) {
			t.Error(args, err)
		}
	}
}
