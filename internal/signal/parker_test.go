package signal_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/internal/signal"
)

// closed and open are done channels.
func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func open() <-chan struct{} { return make(chan struct{}) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fired and pending are the channels of timers.
func fired() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

func pending() <-chan time.Time { return make(chan time.Time) }

// sleeps are all ways to sleep that only a token ends.
var sleeps = map[string]func(signal.Parker) signal.Reason{
	"Take":                func(p signal.Parker) signal.Reason { p.Take(); return signal.Woken },
	"Sleep":               func(p signal.Parker) signal.Reason { return p.Sleep(nil, nil) },
	"Sleep, done":         func(p signal.Parker) signal.Reason { return p.Sleep(open(), nil) },
	"Sleep, timer":        func(p signal.Parker) signal.Reason { return p.Sleep(nil, pending()) },
	"Sleep, done + timer": func(p signal.Parker) signal.Reason { return p.Sleep(open(), pending()) },
}

// wakePanics reports whether Wake found a token that was not taken.
func wakePanics(p signal.Parker) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	p.Wake()
	return false
}

// holdsNoToken fails the test if there is a token that would end some later sleep.
func holdsNoToken(t *testing.T, p signal.Parker) {
	t.Helper()
	if wakePanics(p) {
		t.Error("a token was left over")
	}
	p.Take()
}

// A sleep ends for what holds and for nothing else; a nil channel never holds;
// and only Woken has taken the token.
func TestSleepEndsForWhatHoldsAndNothingElse(t *testing.T) {
	for _, token := range []bool{false, true} {
		for doneName, done := range map[string]func() <-chan struct{}{"nil": nil, "open": open, "closed": closed} {
			for timerName, timer := range map[string]func() <-chan time.Time{"nil": nil, "pending": pending, "fired": fired} {
				name := fmt.Sprintf("token %t, done %s, timer %s", token, doneName, timerName)
				holds := map[signal.Reason]bool{
					signal.Woken:   token,
					signal.Done:    doneName == "closed",
					signal.Expired: timerName == "fired",
				}
				seen := map[signal.Reason]bool{}
				for range 100 { // the runtime throws a coin where several hold
					synctest.Test(t, func(t *testing.T) {
						seen[oneSleep(t, name, token, done, timer)] = true
					})
				}
				for _, reason := range []signal.Reason{signal.Woken, signal.Done, signal.Expired} {
					if seen[reason] != holds[reason] {
						t.Errorf("%s: reason %d given: %t, holds: %t", name, reason, seen[reason], holds[reason])
					}
				}
				if asleep := !token && doneName != "closed" && timerName != "fired"; seen[0] != asleep {
					t.Errorf("%s: slept on: %t, want %t", name, seen[0], asleep)
				}
			}
		}
	}
}

// oneSleep returns why the sleep ended, 0 if it did not until it was rescued.
func oneSleep(t *testing.T, name string, token bool, done func() <-chan struct{}, timer func() <-chan time.Time) signal.Reason {
	p := signal.NewParker()
	if token {
		p.Wake()
	}
	var d <-chan struct{}
	if done != nil {
		d = done()
	}
	var e <-chan time.Time
	if timer != nil {
		e = timer()
	}
	var reason signal.Reason
	go func() { reason = p.Sleep(d, e) }()
	synctest.Wait()
	got := reason
	if got == 0 {
		p.Wake()
		synctest.Wait()
		if reason != signal.Woken {
			t.Errorf("%s: reason %d after the token, want Woken", name, reason)
		}
	}
	// The token is there still, unless the sleep took it.
	if left, want := wakePanics(p), token && got != signal.Woken; left != want {
		t.Errorf("%s: reason %d, token left: %t, want %t", name, got, left, want)
	}
	p.Take()
	return got
}

// A sleep with a timer ends at its time, not before, and a token or the end of
// the context one instant earlier comes first.
func TestSleepExpiresAtItsTime(t *testing.T) {
	const patience = time.Second
	for _, test := range []struct {
		name string
		wake time.Duration // when the token is posted; 0: never
		end  time.Duration // when done is closed; 0: never
		want signal.Reason
		at   time.Duration
	}{
		{"nothing comes", 0, 0, signal.Expired, patience},
		{"a token just in time", patience - 1, 0, signal.Woken, patience - 1},
		{"a token just too late", patience + 1, 0, signal.Expired, patience},
		{"the end just in time", 0, patience - 1, signal.Done, patience - 1},
		{"the end just too late", 0, patience + 1, signal.Expired, patience},
		{"a token before the end", patience - 2, patience - 1, signal.Woken, patience - 2},
		{"the end before a token", patience - 1, patience - 2, signal.Done, patience - 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p, done := signal.NewParker(), make(chan struct{})
			if test.wake != 0 {
				time.AfterFunc(test.wake, p.Wake)
			}
			if test.end != 0 {
				time.AfterFunc(test.end, func() { close(done) })
			}
			got := p.Sleep(done, time.After(patience))
			if at := time.Since(start); got != test.want || at != test.at {
				t.Errorf("%s: reason %d at %v, want %d at %v", test.name, got, at, test.want, test.at)
			}
			if test.wake != 0 && got != signal.Woken {
				p.Take() // a token that comes later is not lost for it
			}
		})
	}
}

func TestNewParkerHoldsNoToken(t *testing.T) {
	for range 100 {
		p := signal.NewParker()
		if got := p.Sleep(closed(), nil); got != signal.Done {
			t.Fatalf("the first sleep ended with reason %d, want Done", got)
		}
	}
}

// A Parker is a name for a sleeper: copies are the same one, and equal.
func TestCopiesOfAParkerAreOneSleeper(t *testing.T) {
	p := signal.NewParker()
	same, other := p, signal.NewParker()
	if p != same || p == other {
		t.Errorf("equal to its copy: %t, to another: %t", p == same, p == other)
	}
	p.Wake()
	if !wakePanics(same) || wakePanics(other) {
		t.Error("a token is not where it was posted")
	}
	same.Take()
	other.Take()
	holdsNoToken(t, p)
}

// A token carries with it what its waker did before: plain writes on both sides,
// which the race detector takes for a race unless Wake comes before Take.
func TestWhatHappenedBeforeWakeIsSeenAfterTheToken(t *testing.T) {
	for name, sleep := range sleeps {
		ball, back := signal.NewParker(), signal.NewParker()
		x := 0
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 500 {
				sleep(ball)
				x++
				back.Wake()
			}
		})
		for range 500 {
			x++
			ball.Wake()
			sleep(back)
		}
		wg.Wait()
		if x != 1000 {
			t.Errorf("%s: counted to %d, want 1000", name, x)
		}
	}
}

func TestSleepingAndWakingAllocateNothing(t *testing.T) {
	p, o, never := signal.NewParker(), open(), pending()
	if got := testing.AllocsPerRun(100, func() {
		p.Wake()
		p.Take()
		p.Wake()
		p.Sleep(nil, nil)
		p.Wake()
		p.Sleep(o, never)
	}); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
