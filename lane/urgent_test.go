package lane_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
)

func reserved(c lane.Config) func(testing.TB) lane.Lane {
	return func(t testing.TB) lane.Lane { return threads(t, c) }
}

func TestReservedSlotsServeUrgentCallsAlone(t *testing.T) {
	bubble(t, reserved(lane.Config{Workers: 4, Reserved: 2}), func(t *testing.T, w *crew) {
		bulk := w.sendAll(10, lane.Call{})
		if got := w.inside.Load(); got != 2 {
			t.Fatalf("%d plain calls run beside 2 reserved slots of 4", got)
		}
		urgent := w.sendAll(3, lane.Call{Urgent: true})
		wantInside(t, true, urgent[:2]...)
		wantInside(t, false, urgent[2])
		urgent[0].dismiss() // a reserved slot: the third urgent call's
		wantInside(t, true, urgent[2])
		urgent[1].dismiss()
		urgent[2].dismiss()
		synctest.Wait()
		if got := w.inside.Load(); got != 2 {
			t.Errorf("%d calls run, and plain ones took the reserve", got)
		}
		bulk[0].dismiss()
		wantInside(t, true, bulk[2])
	})
}

func TestUrgentCallsUseFreeNormalSlotsToo(t *testing.T) {
	bubble(t, reserved(lane.Config{Workers: 4, Reserved: 1}), func(t *testing.T, w *crew) {
		wantInside(t, true, w.sendAll(4, lane.Call{Urgent: true})...)
		if got := w.peak.Load(); got != 4 {
			t.Errorf("%d calls run, want 4", got)
		}
		if p := w.sendAll(1, lane.Call{Urgent: true, NoWait: true})[0]; !errors.Is(p.err, ioerr.ErrReentry) {
			t.Errorf("a fifth call got %v", p.err)
		}
	})
}

// Control traffic must not wait behind bulk, and bulk must get on all the same.
func TestUrgentCallsGoFirstButNotTwiceInARow(t *testing.T) {
	for _, patience := range []time.Duration{0, lane.Strict} {
		bubble(t, reserved(lane.Config{Workers: 1, Patience: patience}), func(t *testing.T, w *crew) {
			first := w.sendAll(1, lane.Call{})[0]
			bulk := w.sendAll(4, lane.Call{})
			urgent := w.sendAll(4, lane.Call{Urgent: true})
			for _, p := range append(bulk, urgent...) {
				p.dismiss()
			}
			first.dismiss()
			synctest.Wait()
			for i := range 4 {
				if got, want := urgent[i].ran.Load(), int64(2+2*i); got != want {
					t.Errorf("urgent call %d ran as number %d, want %d", i+1, got, want)
				}
				if got, want := bulk[i].ran.Load(), int64(3+2*i); got != want {
					t.Errorf("plain call %d ran as number %d, want %d", i+1, got, want)
				}
			}
		})
	}
}

func TestUrgentCallsHaveBoundsOfTheirOwn(t *testing.T) {
	bubble(t, reserved(lane.Config{Workers: 1, Queue: 2, Waiters: 1}), func(t *testing.T, w *crew) {
		w.sendAll(1, lane.Call{})
		for _, urgent := range []bool{false, true} {
			for _, p := range w.sendAll(2, lane.Call{Urgent: urgent, Policy: lane.FailFast}) {
				if !p.waits() {
					t.Errorf("urgent %v: got %v", urgent, p.err)
				}
			}
			if p := w.sendAll(1, lane.Call{Urgent: urgent, Policy: lane.FailFast})[0]; !errors.Is(p.err, ioerr.ErrQueueFull) {
				t.Errorf("urgent %v: got %v, want %v", urgent, p.err, ioerr.ErrQueueFull)
			}
			if p := w.sendAll(1, lane.Call{Urgent: urgent})[0]; !p.waits() {
				t.Errorf("urgent %v: got %v", urgent, p.err)
			}
			if p := w.sendAll(1, lane.Call{Urgent: urgent})[0]; !errors.Is(p.err, ioerr.ErrOverloaded) {
				t.Errorf("urgent %v: got %v, want %v", urgent, p.err, ioerr.ErrOverloaded)
			}
		}
		if s := w.lane.Stats(); s.Queued != 4 || s.Waiting != 2 {
			t.Errorf("%d queued, %d waiting; want 4, 2", s.Queued, s.Waiting)
		}
	})
}
