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

// LIFO is about the accepted ones only: acceptance itself goes in order.
func TestLIFOServesTheNewestAcceptedCall(t *testing.T) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		open := func(t testing.TB) lane.Lane {
			return threads(t, lane.Config{Workers: 1, Queue: 4, Waiters: 4, Order: lane.LIFO, Patience: patience})
		}
		bubble(t, open, func(t *testing.T, w *crew) {
			first := w.sendAll(1, lane.Call{})[0]
			all := w.sendAll(6, lane.Call{})
			for _, p := range all {
				p.dismiss()
			}
			first.dismiss()
			synctest.Wait()
			// 3 leaves the queue, so 4 is accepted, and is the newest; then 5.
			for i, p := range []int{3, 4, 5, 2, 1, 0} {
				if got, want := all[p].ran.Load(), int64(i+2); got != want {
					t.Errorf("caller %d ran as number %d, want %d", p, got, want)
				}
			}
		})
	}
}

func TestLIFOLetsOldCallersGiveUp(t *testing.T) {
	open := func(t testing.TB) lane.Lane {
		return threads(t, lane.Config{Workers: 1, Order: lane.LIFO})
	}
	bubble(t, open, func(t *testing.T, w *crew) {
		first := w.sendAll(1, lane.Call{})[0]
		all := w.sendAll(5, lane.Call{})
		all[0].cancel()
		all[4].cancel()
		synctest.Wait()
		first.dismiss()
		wantInside(t, true, all[3])
		for _, i := range []int{0, 4} {
			if !errors.Is(all[i].err, context.Canceled) {
				t.Errorf("caller %d gave up and got %v", i, all[i].err)
			}
		}
	})
}

// A thousand callers stand behind a blocker; then it leaves, while newcomers
// hammer at the door and every tenth caller gives up. Start order is queue order.
func TestAThousandWaitersAreServedInOrderPastHammeringNewcomers(t *testing.T) {
	const n = 1000
	l := threads(t, lane.Config{Workers: 1, Queue: n, Patience: lane.Strict})
	w := &crew{lane: l}
	blocker := take(t, l, lane.Call{})
	var queued []*caller
	for i := range n {
		p := w.send(context.Background(), lane.Call{})
		p.dismiss()
		queued = append(queued, p)
		for l.Stats().Queued != i+1 {
			runtime.Gosched()
		}
	}
	for i := 0; i < n; i += 10 {
		queued[i].cancel()
	}
	for l.Stats().Queued != n-n/10 {
		runtime.Gosched()
	}
	var over atomic.Bool
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for !over.Load() {
				s, err := l.Enter(context.Background(), lane.Call{NoWait: true})
				if err == nil {
					if got := w.started.Load(); got < n-n/10 {
						t.Errorf("a newcomer got in after %d of %d callers", got, n-n/10)
					}
					l.Leave(s)
				} else if !errors.Is(err, ioerr.ErrReentry) {
					t.Error(err)
				}
				runtime.Gosched()
			}
		})
	}
	l.Leave(blocker)
	last := int64(0)
	for i, p := range queued {
		<-p.gone
		switch {
		case i%10 == 0:
			if !errors.Is(p.err, context.Canceled) {
				t.Errorf("caller %d gave up and got %v", i, p.err)
			}
		case p.ran.Load() <= last:
			t.Errorf("caller %d ran out of turn", i)
		default:
			last = p.ran.Load()
		}
	}
	over.Store(true)
	wg.Wait()
	shut(t, l)
}

// Cancelling one of a hundred leaves the order of the others alone.
func TestTheFiftiethOfAHundredLeavesAndTheOthersKeepTheirOrder(t *testing.T) {
	bubble(t, func(t testing.TB) lane.Lane { return threads(t, lane.Config{Workers: 1}) }, func(t *testing.T, w *crew) {
		first := w.sendAll(1, lane.Call{})[0]
		all := w.sendAll(100, lane.Call{})
		all[49].cancel()
		synctest.Wait()
		if !all[49].left() || w.lane.Stats().Queued != 99 {
			t.Errorf("the caller has left: %v; %d are queued, want 99", all[49].left(), w.lane.Stats().Queued)
		}
		for _, p := range all {
			p.dismiss()
		}
		first.dismiss()
		synctest.Wait()
		for i, p := range append(all[:49:49], all[50:]...) {
			if got, want := p.ran.Load(), int64(i+2); got != want {
				t.Errorf("caller %d ran as number %d, want %d", i, got, want)
			}
		}
	})
}
