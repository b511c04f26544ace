package lanegate

import (
	"context"
	"testing"
	"time"
)

// noAllocs checks that f does not allocate once it has been called a few times.
func noAllocs(t *testing.T, f func()) {
	t.Helper()
	for range 10 {
		f()
	}
	if n := testing.AllocsPerRun(1000, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("the race detector allocates")
	}
}

func TestTryAndReleaseDoNotAllocate(t *testing.T) {
	skipUnderRace(t)
	g := newGate(Config{Slots: 8, Patience: ms})
	noAllocs(t, func() {
		s, ok := g.Try()
		if !ok {
			t.Fatal("refused")
		}
		s.Release()
	})
}

func TestRefusalsDoNotAllocate(t *testing.T) {
	skipUnderRace(t)
	g := newGate(Config{Slots: 1, Patience: ms})
	s := take(t, g, Request{})
	noAllocs(t, func() {
		if _, v := g.Acquire(context.Background(), &Request{}); v != Overloaded {
			t.Fatal("verdict", v)
		}
		if _, v := g.Acquire(context.Background(), &Request{NoWait: true}); v != Busy {
			t.Fatal("verdict", v)
		}
	})
	s.Release()
}

// Each call stands in line, is woken and gets its slot from the other goroutine.
func TestACallThatWaitsDoesNotAllocate(t *testing.T) {
	skipUnderRace(t)
	for name, patience := range map[string]time.Duration{"strict": strict, "patient": patient} {
		t.Run(name, func(t *testing.T) {
			g := newGate(Config{Slots: 1, Queue: 1, Patience: patience})
			holds, release := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(holds)
				for range release {
					s, _ := g.Acquire(context.Background(), &Request{})
					holds <- struct{}{}
					<-release
					s.Release()
				}
			}()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls := uint64(0)
			noAllocs(t, func() {
				calls++
				release <- struct{}{}
				<-holds
				release <- struct{}{} // the other one is ready to run, but has not run
				s, v := g.Acquire(ctx, &Request{})
				if v != Granted {
					t.Fatal("verdict", v)
				}
				s.Release()
			})
			close(release)
			<-holds
			// AllocsPerRun sees to it that there is one processor.
			if n := g.Stats().Waits; n < calls*9/10 {
				t.Errorf("%d of %d calls had to wait", n, calls)
			}
		})
	}
}
