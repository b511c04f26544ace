package lane_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/iolane/iolane/lane"
)

// A thousand calls end badly in a lane of one; then comes a good one.
func TestACallThatPanicsOrExitsCostsNoSlot(t *testing.T) {
	for name, end := range map[string]func(){
		"panic":  func() { panic("a call") },
		"Goexit": runtime.Goexit,
		"nil":    func() { panic(nil) }, //nolint:govet // a fault of the program, and it must cost nothing
	} {
		for kind, l := range map[string]lane.Lane{
			"Threads": threads(t, lane.Config{Workers: 1, PerKey: 1}),
			"Sharded": sharded(t, lane.ShardedConfig{Shards: 2, Isolated: true, Config: lane.Config{Workers: 1, PerKey: 1}}),
		} {
			t.Run(name+" in "+kind, func(t *testing.T) {
				var wg sync.WaitGroup
				for i := range 1000 {
					c := lane.Call{Handle: 1}
					if i%2 == 0 {
						c.Key = "k"
					}
					wg.Go(func() {
						defer func() { _ = recover() }()
						s, err := l.Enter(context.Background(), c)
						if err != nil {
							t.Error(err)
							return
						}
						defer l.Leave(s)
						end()
					})
				}
				wg.Wait()
				s, err := l.Enter(context.Background(), lane.Call{Handle: 1, Key: "k", NoWait: true})
				if err != nil {
					t.Fatalf("the call after a thousand bad ones got %v", err)
				}
				l.Leave(s)
				if s := l.Stats(); s.Running != 0 || s.Completed != 1001 {
					t.Errorf("%d running, %d completed; want 0, 1001", s.Running, s.Completed)
				}
				shut(t, l)
			})
		}
	}
}

// The first call on a fresh lane always runs.
func TestTheFirstCallOfAFreshLaneRuns(t *testing.T) {
	for range 500 {
		for _, l := range []lane.Lane{
			threads(t, lane.Config{Workers: 1, Queue: 1}),
			sharded(t, lane.ShardedConfig{Shards: 2, Config: lane.Config{Workers: 1, Queue: 1}}),
			lane.NewInline(""),
		} {
			w := &crew{lane: l}
			p := w.send(t.Context(), lane.Call{})
			p.dismiss()
			<-p.gone
			if p.err != nil {
				t.Fatalf("%T: %v", l, p.err)
			}
			shut(t, l)
		}
	}
}
