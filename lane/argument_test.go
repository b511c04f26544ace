package lane_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

// lanes are one of each kind.
func lanes(t testing.TB) map[string]lane.Gated {
	t.Helper()
	return map[string]lane.Gated{
		"Threads": threads(t, lane.Config{Workers: 2, Reserved: 1}),
		"Sharded": sharded(t, lane.ShardedConfig{Shards: 2, Config: lane.Config{Workers: 2, Reserved: 1}}),
		"Inline":  lane.NewInline(""),
	}
}

func TestANilContextIsATypedError(t *testing.T) {
	var none context.Context
	for name, l := range lanes(t) {
		t.Run(name, func(t *testing.T) {
			for _, c := range []lane.Call{{}, {Key: "k"}, {NoWait: true}, {Must: true}} {
				s, err := l.Enter(none, c)
				wantArgument(t, err, "ctx", nil)
				if s != (lane.Slot{}) {
					t.Errorf("a refusal came with the slot %v", s)
				}
			}
			wantArgument(t, l.Shutdown(none), "ctx", nil)
			l.Leave(take(t, l, lane.Call{})) // nothing was done
			l.Seal()
			wantArgument(t, l.Drain(none), "ctx", nil)
			shut(t, l)
			wantArgument(t, l.Shutdown(none), "ctx", nil)
		})
	}
}

// The answer must not depend on whether a slot is free.
func TestAnUnknownPolicyIsATypedErrorInAnyState(t *testing.T) {
	check := func(t *testing.T, l lane.Lane, state string) {
		t.Helper()
		for _, policy := range []lane.Policy{lane.FailFast + 1, 255} {
			s, err := l.Enter(context.Background(), lane.Call{Policy: policy})
			if err == nil {
				l.Leave(s)
				t.Errorf("a call with the policy %d got into a lane that is %s", policy, state)
				continue
			}
			wantArgument(t, err, "lane.Call.Policy", policy)
		}
	}
	l := threads(t, lane.Config{Workers: 1})
	check(t, l, "free")
	s := take(t, l, lane.Call{})
	check(t, l, "full")
	l.Leave(s)
	shut(t, l)
	check(t, l, "shut")
	if got := l.Stats(); got.Submitted != 1 || got.Started != 1 {
		t.Errorf("%d calls submitted and %d started, want the one without a fault", got.Submitted, got.Started)
	}
}

func TestTheArgumentOfResizeIsChecked(t *testing.T) {
	for name, l := range map[string]interface {
		lane.Lane
		Resize(n int) error
	}{
		"Threads": threads(t, lane.Config{Workers: 4, Reserved: 2, Threadless: true}),
		"Sharded": sharded(t, lane.ShardedConfig{Shards: 1, Config: lane.Config{Workers: 4, Reserved: 2, Threadless: true}}),
	} {
		for _, n := range []int{math.MinInt, -1, 0, 2, maxWorkers + 1, math.MaxInt} {
			wantArgument(t, l.Resize(n), "n", n)
			if got := l.Stats().Workers; got != 4 {
				t.Errorf("%s has %d workers after a Resize that was refused, want 4", name, got)
			}
		}
		for _, n := range []int{3, maxWorkers, 4} {
			if err := l.Resize(n); err != nil {
				t.Errorf("Resize(%d): %v", n, err)
			}
			if got := l.Stats().Workers; got != n {
				t.Errorf("%s has %d workers, want %d", name, got, n)
			}
		}
		shut(t, l)
	}
}

func TestTheArgumentsOfSetKeyLimitAreChecked(t *testing.T) {
	l := threads(t, lane.Config{})
	defer shut(t, l)
	wantArgument(t, l.SetKeyLimit("", 1), "key", "")
	for _, n := range []int{math.MinInt, -1, maxWorkers + 1, math.MaxInt} {
		wantArgument(t, l.SetKeyLimit("k", n), "n", n)
	}
	for _, n := range []int{0, 1, maxWorkers, 0, 0} {
		if err := l.SetKeyLimit("k", n); err != nil {
			t.Errorf("SetKeyLimit(%d): %v", n, err)
		}
	}
}

// An acceptance deadline bounds the wait. Where there is none to be bounded, it
// does not matter; see lane.Call.
func TestAPassedAcceptanceDeadlineMeansNotToWaitForAcceptance(t *testing.T) {
	past := lane.Call{Accept: time.Unix(1, 0)}
	bubble(t, func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 1, Queue: 1, Waiters: 8})
	}, func(t *testing.T, w *crew) {
		wantInside(t, true, w.sendAll(1, past)...)
		if p := w.sendAll(1, past)[0]; !p.waits() {
			t.Errorf("a caller with a place in the queue got %v", p.err)
		}
		if p := w.sendAll(1, past)[0]; !errors.Is(p.err, ioerr.ErrAcceptTimeout) {
			t.Errorf("a caller without one got %v, want %v", p.err, ioerr.ErrAcceptTimeout)
		}
	})
}

// A slot that Enter did not return is a fault of the program.
func TestLeaveWithTheZeroSlotPanics(t *testing.T) {
	for name, l := range lanes(t) {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took the zero Slot back", name)
				}
			}()
			l.Leave(lane.Slot{})
		}()
		l.Leave(take(t, l, lane.Call{})) // and does no harm
		if s := l.Stats(); s.Running != 0 || s.Completed != 1 {
			t.Errorf("%s: %d running, %d completed; want 0, 1", name, s.Running, s.Completed)
		}
		shut(t, l)
	}
}

func TestWeakestIsTheWeakestOfAll(t *testing.T) {
	own := lane.Capabilities{DedicatedThreads: true, Execution: lane.Guaranteed}
	for _, c := range []struct {
		parts []lane.Capabilities
		want  lane.Capabilities
	}{
		{[]lane.Capabilities{own}, own},
		{[]lane.Capabilities{own, own}, own},
		{[]lane.Capabilities{own, {Execution: lane.Guaranteed}}, lane.Capabilities{Execution: lane.Guaranteed}},
		{
			[]lane.Capabilities{{DedicatedThreads: true, Execution: lane.Abandons}, own, {DedicatedThreads: true, Execution: lane.BestEffort}},
			lane.Capabilities{DedicatedThreads: true, Execution: lane.Abandons},
		},
	} {
		if got := lane.Weakest(c.parts[0], c.parts[1:]...); got != c.want {
			t.Errorf("Weakest(%+v) = %+v, want %+v", c.parts, got, c.want)
		}
	}
}

func TestOurLanesPromiseToRunOnNobodysThreadsToTheEnd(t *testing.T) {
	for name, l := range lanes(t) {
		if got, want := l.Capabilities(), (lane.Capabilities{Execution: lane.Guaranteed}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		shut(t, l)
	}
}
