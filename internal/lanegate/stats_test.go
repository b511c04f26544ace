package lanegate

import (
	"testing"
	"testing/synctest"
	"time"
)

// came is the number of callers that the snapshot accounts for: each one is in
// exactly one of these.
func came(s Stats) uint64 {
	n := s.Started + s.Dropped + uint64(s.Queued) + uint64(s.Waiting)
	for _, r := range s.Refused {
		n += r
	}
	return n
}

func TestEachCallerIsCountedOnce(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 2, Queue: 2, Waiters: 3, Patience: patience})
		n := uint64(0)
		check := func(what string) {
			t.Helper()
			s := g.Stats()
			if came(s) != n || s.Started != s.Completed+uint64(s.Running) {
				t.Errorf("%s: %d of %d callers are accounted for in %+v", what, came(s), n, s)
			}
		}
		one := func(what string, r Request) *caller {
			t.Helper()
			c := come(t, g, r)
			n++
			check(what)
			return c
		}
		running := []*caller{one("granted", Request{}), one("granted", Request{})}
		queued := []*caller{one("queued", Request{}), one("queued", Request{})}
		roomed := []*caller{
			one("waits", Request{Owner: 1}), one("waits", Request{Owner: 2}),
			one("waits", Request{Expire: time.Now().Add(ms)}),
		}
		must(t, Overloaded, one("overloaded", Request{}))
		must(t, Full, one("full", Request{FailFast: true}))
		must(t, Busy, one("busy", Request{NoWait: true}))
		time.Sleep(ms)
		synctest.Wait()
		must(t, Expired, roomed[2])
		check("expired in the room")
		must(t, Expired, one("expired before", Request{Expire: time.Now()}))
		g.Evict(2)
		synctest.Wait()
		must(t, Closed, roomed[1])
		check("evicted")
		queued[0].leave()
		check("cancelled in the queue, another promoted")
		roomed[1] = one("waits", Request{})
		roomed[1].leave()
		check("cancelled in the room")
		running[0].release(t)
		check("released to the queue")
		roomed[2] = one("queued", Request{})
		g.Close()
		synctest.Wait()
		check("closed")
		must(t, Closed, one("closed", Request{}))
		releaseAll(t, running[1], queued[1], roomed[0], roomed[2])
		check("empty")

		s := g.Stats()
		want := [Hopeless + 1]uint64{Full: 1, Overloaded: 1, Closed: 2, Busy: 1, Expired: 2, Ended: 1}
		if s.Refused != want || s.Dropped != 1 || s.Promoted != 1 || s.Started != 5 || s.Completed != 5 {
			t.Errorf("%+v, want refused %v, dropped 1, promoted 1, started and completed 5", s, want)
		}
		empty(t, g)
	})
}

func TestWaitsAreMeasured(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: patience})
		runner := come(t, g, Request{})
		c := comeAll(t, g, 3, Request{})
		time.Sleep(2 * ms)
		c[2].leave()
		time.Sleep(ms)
		serve(t, runner, c[0], c[1])
		s := g.Stats()
		if s.Waits != 3 || s.WaitSum != 8*ms || s.WaitMax != 3*ms {
			t.Errorf("%d waits, sum %v, longest %v, want 3, 8ms and 3ms", s.Waits, s.WaitSum, s.WaitMax)
		}
	})
}

// A slot is handed to a caller whose context has ended; whether the call starts is
// open until it comes.
func TestTheCountOfStartedCallsNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{Slots: 1, Queue: 9, Patience: strict})
		s := take(t, g, Request{})
		ctx := newLateEnd(t)
		start(ctx, g, Request{})
		synctest.Wait()
		s.Release()
		<-ctx.asked
		if s := g.Stats(); s.Started != 1 || s.Running != 0 || s.Queued != 1 {
			t.Errorf("before it comes: %+v", s)
		}
		close(ctx.answer)
		synctest.Wait()
		if s := g.Stats(); s.Started != 1 || s.Queued != 0 || s.Dropped != 1 {
			t.Errorf("after it has come: %+v", s)
		}
		empty(t, g)
	})
}

func TestLentSlotsCountWhereTheyAre(t *testing.T) {
	both(t, func(t *testing.T, patience time.Duration) {
		gs := newGroup(2, Config{Slots: 1, Queue: 9, Patience: patience})
		cs := comeAll(t, gs[0], 2, Request{})
		for i, g := range gs {
			if s := g.Stats(); s.Running != 1 || s.Started != 1 {
				t.Errorf("gate %d: %+v", i, s)
			}
		}
		releaseAll(t, cs...)
		empty(t, gs...)
	})
}

// The count of started calls is in the upper bits of the word that admits them.
func TestTheCountOfStartedCallsWrapsHarmlessly(t *testing.T) {
	g := newGate(Config{Slots: 1, Patience: patient})
	g.shards[0].word.Add(^uint64(oneStarted - 1))
	for range 3 {
		s, ok := g.Try()
		if !ok {
			t.Fatal("refused")
		}
		if _, ok := g.Try(); ok {
			t.Fatal("over the bound")
		}
		s.Release()
	}
	if s := g.Stats(); s.Started != 2 || s.Completed != 2 || s.Running != 0 {
		t.Errorf("%+v", s)
	}
}
