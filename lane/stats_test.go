package lane_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func TestStatsAddUpUnderLoad(t *testing.T) {
	few := lane.Config{Workers: 3, Reserved: 1, Queue: 2, Waiters: 3}
	for name, l := range map[string]lane.Lane{
		"Threads":  threads(t, few),
		"Sharded":  sharded(t, lane.ShardedConfig{Shards: 4, Config: few}),
		"isolated": sharded(t, lane.ShardedConfig{Shards: 4, Isolated: true, Config: few}),
		"Inline":   lane.NewInline(""),
	} {
		t.Run(name, func(t *testing.T) {
			var over atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				for ; !over.Load(); runtime.Gosched() {
					s := l.Stats()
					addUp(t, s)
					if s.Running > s.Workers {
						t.Errorf("%d calls run in %d slots", s.Running, s.Workers)
					}
				}
			})
			load(l, 16, count(200, 20_000))
			over.Store(true)
			wg.Wait()
			shut(t, l)
			if s := l.Stats(); s.Submitted != uint64(16*count(200, 20_000)) {
				t.Errorf("%d calls were submitted, want %d", s.Submitted, 16*count(200, 20_000))
			}
		})
	}
}

// What a snapshot says was submitted, accepted or completed is so for good. (A call
// that has started may turn out to be dropped, if its context ended just then.)
func TestCountersNeverGoBack(t *testing.T) {
	l := threads(t, lane.Config{Workers: 2, Queue: 2, Waiters: 3})
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		var last lane.Stats
		for ; !over.Load(); runtime.Gosched() {
			s := l.Stats()
			for name, n := range map[string][2]uint64{
				"Submitted":         {last.Submitted, s.Submitted},
				"Accepted":          {last.Accepted, s.Accepted},
				"Completed":         {last.Completed, s.Completed},
				"Dropped":           {last.Dropped, s.Dropped},
				"Promoted":          {last.Promoted, s.Promoted},
				"Waits":             {last.Waits, s.Waits},
				"WaitSum":           {uint64(last.WaitSum), uint64(s.WaitSum)},
				"WaitMax":           {uint64(last.WaitMax), uint64(s.WaitMax)},
				"Refused":           {last.Refused.Total(), s.Refused.Total()},
				"Refused.Cancelled": {last.Refused.Cancelled, s.Refused.Cancelled},
			} {
				if n[1] < n[0] {
					t.Errorf("%s went from %d to %d", name, n[0], n[1])
					return
				}
			}
			last = s
		}
	})
	load(l, 16, count(500, 20_000))
	over.Store(true)
	wg.Wait()
	shut(t, l)
}

func TestTheTimeInTheQueueIsMeasured(t *testing.T) {
	bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: 1}) }, func(t *testing.T, w *crew) {
		first := w.sendAll(1, lane.Call{})[0]
		for i, p := range w.sendAll(3, lane.Call{}) {
			time.Sleep(10 * time.Millisecond)
			if i == 1 {
				p.cancel() // counts too: it stood there as long
			}
			p.dismiss()
		}
		first.dismiss()
		synctest.Wait()
		s := w.lane.Stats()
		if s.Waits != 3 || s.WaitSum != 80*time.Millisecond || s.WaitMax != 30*time.Millisecond {
			t.Errorf("%d waits of %v, the longest %v; want 3 of 80ms, the longest 30ms", s.Waits, s.WaitSum, s.WaitMax)
		}
	})
}

// Who never waited left no trace in the times, and who never ran none in the rest.
func TestADeadContextIsOneRefusalAndNothingElse(t *testing.T) {
	for name, l := range lanes(t) {
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []lane.Call{{}, {Key: "k"}, {NoWait: true}, {Urgent: true}} {
			if _, err := l.Enter(dead, c); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if s := l.Stats(); s.Submitted != 4 || s.Refused != (lane.Refused{Cancelled: 4}) || s.Waits != 0 {
			t.Errorf("%s: %d submitted, %+v, %d waits; want 4 cancelled and no wait", name, s.Submitted, s.Refused, s.Waits)
		}
		shut(t, l)
		if _, err := l.Enter(dead, lane.Call{}); !errors.Is(err, ioerr.ErrShutdown) {
			t.Errorf("%s: got %v", name, err)
		}
		if s := l.Stats(); s.Submitted != 5 || s.Refused != (lane.Refused{Cancelled: 4, Shutdown: 1}) {
			t.Errorf("%s: %d submitted, %+v; want 4 cancelled and one refused by the shutdown", name, s.Submitted, s.Refused)
		}
		addUp(t, l.Stats())
	}
}
