package signal_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/signal"
)

func TestLatchHasNotFiredBeforeFire(t *testing.T) {
	var l signal.Latch
	if l.Fired() || isClosed(l.Done()) || l.Fired() {
		t.Error("a latch fired by itself")
	}
}

func TestFireIsSeenByDoneBeforeAndAfterIt(t *testing.T) {
	var l signal.Latch
	before := l.Done()
	l.Fire()
	if !l.Fired() || !isClosed(before) || !isClosed(l.Done()) {
		t.Errorf("fired: %t, seen by an earlier Done: %t, by a later one: %t", l.Fired(), isClosed(before), isClosed(l.Done()))
	}

	var early signal.Latch
	early.Fire()
	if !early.Fired() || !isClosed(early.Done()) {
		t.Errorf("fired before anybody asked: %t, seen by Done: %t", early.Fired(), isClosed(early.Done()))
	}
}

func TestFireTwiceIsFireOnce(t *testing.T) {
	for _, waited := range []bool{false, true} {
		var l signal.Latch
		if waited {
			l.Done()
		}
		l.Fire()
		l.Fire()
		if !l.Fired() || !isClosed(l.Done()) {
			t.Errorf("waited for: %t; fired twice and not at all", waited)
		}
		l.Fire()
	}
}

func TestDoneIsOneChannel(t *testing.T) {
	var l signal.Latch
	first := l.Done()
	if l.Done() != first {
		t.Error("two channels before Fire")
	}
	l.Fire()
	if l.Done() != first {
		t.Error("another channel after Fire")
	}

	var early signal.Latch
	early.Fire()
	if first := early.Done(); early.Done() != first {
		t.Error("two channels of a latch that fired before anybody asked")
	}

	// Also for those who ask at the same time as each other and as Fire.
	for range 200 {
		var l signal.Latch
		var channels [8]<-chan struct{}
		together(len(channels)+1, func(i int) {
			if i == len(channels) {
				l.Fire()
				return
			}
			channels[i] = l.Done()
		})
		for _, c := range channels {
			if c != channels[0] || !isClosed(c) {
				t.Fatal("callers got different channels, or one that stays open")
			}
		}
	}
}

// together runs f n times at once and waits for all.
func together(n int, f func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// However the steps of two who fire and two who wait fall, both waiters get
// through, and neither before the first Fire.
func TestFireReachesEveryWaiterInEveryOrder(t *testing.T) {
	orders := explore(t, func(s *schedule) {
		var l signal.Latch
		happened := false
		given := make(chan struct{}) // closed if the model got stuck
		for i := range 2 {
			s.actor(fmt.Sprintf("firer %d", i), func(a *actor) {
				a.step("fire")
				happened = true
				l.Fire()
			})
			s.actor(fmt.Sprintf("waiter %d", i), func(a *actor) {
				a.step("ask")
				if got := l.Fired(); got != happened {
					s.t.Errorf("Fired() = %t, want %t\n%s", got, happened, s)
				}
				done := l.Done()
				a.step("wait")
				select {
				case <-done:
				case <-given:
					return
				}
				if !happened || !l.Fired() {
					s.t.Errorf("got through before the event\n%s", s)
				}
			})
		}
		s.rescue = func() { close(given) }
		s.check = func(*testing.T) {}
	})
	t.Logf("%d orders", orders)
	if orders != 180 { // 6!/(2!2!): six steps, of which two pairs have their order
		t.Errorf("%d orders explored, want 180", orders)
	}
}

func TestManyMayWaitAndManyMayFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l signal.Latch
		const waiters = 100
		through := make([]bool, waiters)
		for i := range through {
			go func() {
				<-l.Done()
				through[i] = true
			}()
		}
		synctest.Wait()
		for i, ok := range through {
			if ok {
				t.Errorf("waiter %d got through before Fire", i)
			}
		}
		for range 8 {
			go l.Fire()
		}
		synctest.Wait()
		for i, ok := range through {
			if !ok {
				t.Errorf("waiter %d still waits", i)
			}
		}
	})
	for range 200 { // not one after the other, as in a bubble
		var l signal.Latch
		together(16, func(i int) {
			if i%2 == 0 {
				l.Fire()
			}
			<-l.Done()
			if !l.Fired() {
				t.Error("got through before the event")
			}
		})
	}
}

// What happened before Fire is seen by whoever learns of it, in each way to
// learn: plain accesses, which the race detector judges.
func TestWhatHappenedBeforeFireIsSeenByWhoeverLearnsOfIt(t *testing.T) {
	for name, learn := range map[string]func(*signal.Latch){
		"Done": func(l *signal.Latch) { <-l.Done() },
		"Fired": func(l *signal.Latch) {
			for !l.Fired() {
				runtime.Gosched()
			}
		},
		"Fired, then Done": func(l *signal.Latch) {
			for !l.Fired() {
				runtime.Gosched()
			}
			<-l.Done()
		},
		"Done, polled": func(l *signal.Latch) {
			for done := l.Done(); !isClosed(done); {
				runtime.Gosched()
			}
		},
	} {
		for range 50 {
			var l signal.Latch
			x := 0
			together(4, func(i int) {
				if i == 0 {
					x = 42
					l.Fire()
					return
				}
				learn(&l)
				if x != 42 {
					t.Errorf("%s: saw %d, want 42", name, x)
				}
			})
		}
	}
}

// Most latches fire with nobody waiting; those cost no channel.
func TestLatchThatNobodyWaitsForAllocatesNothing(t *testing.T) {
	latches := make([]signal.Latch, 101)
	next := 0
	if got := testing.AllocsPerRun(100, func() {
		l := &latches[next]
		next++
		l.Fired()
		l.Fire()
		l.Fired()
	}); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
