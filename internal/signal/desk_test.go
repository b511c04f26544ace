package signal_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/iolane/iolane/internal/signal"
)

// desk is an owner as the package comment wants it: a pile of items under a lock
// and one sleeper who takes them. It keeps its side of the laws, so whatever goes
// wrong is the fault of the Parker.
type desk struct {
	parker signal.Parker

	mu     sync.Mutex
	items  int
	asleep bool // the sleeper found nothing and sleeps, or is about to
	onWay  bool // a token is, or will be, posted and the sleeper has not looked since
}

func newDesk() *desk { return &desk{parker: signal.NewParker()} }

// put adds an item. It reports whether the caller has to post a token, which it
// does after the lock.
func (d *desk) put() (wake bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.items++
	wake = d.asleep && !d.onWay
	d.onWay = d.onWay || wake
	return wake
}

// look takes an item, or announces that the sleeper goes to sleep.
func (d *desk) look() (found bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onWay = false
	found = d.items > 0
	if found {
		d.items--
	}
	d.asleep = !found
	return found
}

// quit is for a sleeper that was not woken and goes away. It reports whether a
// token is on its way, which must be taken then.
func (d *desk) quit() (roused bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	roused = d.onWay
	d.asleep, d.onWay = false, false
	return roused
}

// deskModel is one sleeper that takes one item of each waker. Its first ends
// sleeps have a done channel, which an actor of its own closes. However the steps
// fall, every item is taken, nobody is woken for nothing and no token remains.
func deskModel(s *schedule, wakers, ends int) {
	d := newDesk()
	token := false // it lies in the Parker
	taken, lives, given := 0, 0, false

	dones := make([]chan struct{}, ends+1) // the last life has none
	for i := range ends {
		dones[i] = make(chan struct{})
		s.actor(fmt.Sprintf("end %d", i), func(a *actor) {
			a.step("close")
			close(dones[i])
		})
	}
	for i := range wakers {
		s.actor(fmt.Sprintf("waker %d", i), func(a *actor) {
			a.step("put")
			if d.put() {
				a.step("wake")
				token = true
				d.parker.Wake()
			}
		})
	}

	// sleep leaves the coin that the runtime throws when both ends are there to
	// the explorer: it sleeps again until the one chosen comes up.
	sleep := func(done chan struct{}) signal.Reason {
		var want signal.Reason
		if token && done != nil && isClosed(done) {
			want = []signal.Reason{signal.Woken, signal.Done}[s.choose(2)]
		}
		for {
			switch r := d.parker.Sleep(done, nil); {
			case want != 0 && r != want && r == signal.Woken:
				d.parker.Wake()
			case want != 0 && r != want:
			default:
				token = token && r != signal.Woken
				return r
			}
		}
	}
	// live takes items until all are taken, or its sleep is ended.
	live := func(a *actor, done chan struct{}) {
		woken := false
		for taken < wakers {
			a.step("look")
			found := d.look()
			if woken && !found {
				s.t.Errorf("woken for nothing\n%s", s)
			}
			woken = false
			if found {
				taken++
				continue
			}
			a.step("sleep")
			switch r := sleep(done); {
			case given:
				return
			case r == signal.Woken:
				woken = true
			case r == signal.Done && done != nil:
				a.step("quit")
				if d.quit() {
					a.step("take")
					d.parker.Take()
					token = false
				}
				return
			default:
				s.t.Errorf("the sleep ended with reason %d\n%s", r, s)
				return
			}
		}
	}
	s.actor("sleeper", func(a *actor) {
		for _, done := range dones {
			live(a, done)
			lives++
		}
	})

	s.rescue = func() {
		given = true
		d.parker.Wake()
	}
	s.check = func(t *testing.T) {
		if taken != wakers || d.items != 0 {
			t.Errorf("%d items taken, %d left, want %d and none", taken, d.items, wakers)
		}
		if token || lives != ends+1 {
			t.Errorf("token left: %t; %d lives, want %d", token, lives, ends+1)
		}
		holdsNoToken(t, d.parker)
	}
}

// raceDesk is the model let loose: wakers that put items, few at a time so that
// the sleeper does sleep. With ends they also end its sleeps, now before the
// token, now at the same time.
func raceDesk(t *testing.T, wakers, each int, ends bool) {
	d := newDesk()
	credit := make(chan struct{}, 2) // as many items may lie on the desk
	// All these are guarded by nothing but the desk and the tokens: whoever is to
	// wake the sleeper owns them until it has posted the token.
	var posted, received, payload int
	now := newLife(ends)

	var wg sync.WaitGroup
	for range wakers {
		wg.Go(func() {
			for n := range each {
				credit <- struct{}{}
				if !d.put() {
					continue
				}
				posted++
				payload++
				switch {
				case ends && n%3 == 1:
					now.end()
				case ends && n%3 == 2:
					wg.Go(now.end)
				}
				d.parker.Wake()
			}
		})
	}
	ended := 0
	for taken := 0; taken < wakers*each; {
		if d.look() {
			taken++
			<-credit
			continue
		}
		reason, roused := d.parker.Sleep(now.done, nil), true
		if reason == signal.Done {
			ended++
			if roused = d.quit(); roused {
				d.parker.Take()
			}
			now = newLife(ends)
		}
		if roused {
			received++
			payload++
		}
	}
	wg.Wait()
	t.Logf("%d items, %d tokens, %d sleeps ended", wakers*each, posted, ended)
	if posted != received || payload != 2*posted {
		t.Errorf("%d tokens posted, %d taken, payload %d", posted, received, payload)
	}
	if posted == 0 || ends != (ended > 0) {
		t.Errorf("no race: %d tokens, %d sleeps ended", posted, ended)
	}
	holdsNoToken(t, d.parker)
}

// life is the time in which a sleeper has one done channel.
type life struct {
	done <-chan struct{} // nil: it never ends
	end  func()
}

func newLife(ends bool) life {
	if !ends {
		return life{}
	}
	done := make(chan struct{})
	return life{done, sync.OnceFunc(func() { close(done) })}
}
