package signal_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/signal"
)

// hall is an owner of a Crowd: people wait in it until it opens.
type hall struct {
	mu    sync.Mutex
	open  bool
	crowd signal.Crowd
}

// enter waits until the hall is open; false if ctx ended first.
func (h *hall) enter(ctx context.Context) bool {
	h.mu.Lock()
	if h.open {
		h.mu.Unlock()
		return true
	}
	return h.crowd.Wait(ctx, &h.mu)
}

func (h *hall) unlock() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = true
	h.crowd.WakeAll()
}

// holdsNobody fails the test if a wait that has ended is still in the crowd.
func (h *hall) holdsNobody(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.crowd.Size(); n != 0 {
		t.Errorf("%d ended waits are still in the crowd", n)
	}
}

func TestWakeAllEndsAllWaitsAndNoLaterOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hall
		h.crowd.WakeAll() // of nobody: no effect, also on those who come later
		for range 2 {
			const waiters = 10
			in := 0
			for range waiters {
				go func() {
					h.mu.Lock()
					ok := h.crowd.Wait(t.Context(), &h.mu)
					h.mu.Lock() // not held after Wait
					defer h.mu.Unlock()
					if ok {
						in++
					}
				}()
			}
			synctest.Wait()
			if in != 0 {
				t.Errorf("%d got through before WakeAll", in)
			}
			h.mu.Lock()
			h.crowd.WakeAll()
			h.mu.Unlock()
			synctest.Wait()
			if in != waiters {
				t.Errorf("%d of %d got through", in, waiters)
			}
			h.holdsNobody(t)
		}
	})
}

// Who leaves with its context leaves alone, gets false, and is forgotten.
func TestEndOfOneWaitLeavesTheOthersWaiting(t *testing.T) {
	const waiters = 3
	for leaver := range waiters { // the first, one in the middle, the last
		synctest.Test(t, func(t *testing.T) {
			var h hall
			var cancel [waiters]context.CancelFunc
			var answers [waiters]string
			for i := range waiters {
				var ctx context.Context
				ctx, cancel[i] = context.WithCancel(t.Context())
				defer cancel[i]()
				go func() {
					answers[i] = map[bool]string{true: "in", false: "left"}[h.enter(ctx)]
				}()
				synctest.Wait()
			}
			cancel[leaver]()
			synctest.Wait()
			want := [waiters]string{}
			want[leaver] = "left"
			if answers != want {
				t.Errorf("after %d left: %q, want %q", leaver, answers, want)
			}
			h.unlock()
			synctest.Wait()
			for i := range want {
				if i != leaver {
					want[i] = "in"
				}
			}
			if answers != want {
				t.Errorf("after WakeAll: %q, want %q", answers, want)
			}
			h.holdsNobody(t)
		})
	}
}

// Who is woken while it is on its way out was woken: the answer is what the owner
// decided under its lock, not which channel was looked at first.
func TestWakeAllBeatsAnEndThatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hall
		ctx, cancel := context.WithCancel(t.Context())
		answer := ""
		go func() { answer = map[bool]string{true: "in", false: "left"}[h.enter(ctx)] }()
		synctest.Wait() // it sleeps
		h.mu.Lock()
		cancel() // ends the sleep, but to leave takes the lock
		h.crowd.WakeAll()
		h.mu.Unlock()
		synctest.Wait()
		if answer != "in" {
			t.Errorf("answer %q, want in", answer)
		}
		h.holdsNobody(t)
	})
}

func TestWaitWithAnEndedContextReturnsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var h hall
	for range 100 {
		if h.enter(ctx) {
			t.Fatal("got in although the hall was closed")
		}
		h.holdsNobody(t)
	}
	h.unlock()
	if !h.enter(ctx) {
		t.Error("did not get in although the hall was open")
	}
}

// Whoever came before the end of the wait and before the opening gets exactly one
// of them, the first; nobody falls between the look and the wait.
func TestWaitEndsForWhatCameFirstInEveryOrder(t *testing.T) {
	orders := explore(t, func(s *schedule) {
		var h hall
		ctx, cancel := context.WithCancel(context.Background())
		cancelled, opened := false, false
		waiter := func(name string, ctx context.Context) {
			s.actor(name, func(a *actor) {
				a.step("enter")
				want := opened || !cancelled || ctx.Done() == nil
				ok := h.enter(ctx)
				if ok && !opened || !ok && (!cancelled || opened || ctx.Done() == nil) || ok && !want {
					s.t.Errorf("%s: enter = %t; cancelled %t, open %t\n%s", name, ok, cancelled, opened, s)
				}
			})
		}
		waiter("patient", context.Background())
		waiter("busy 1", ctx)
		waiter("busy 2", ctx)
		s.actor("guard", func(a *actor) {
			a.step("open")
			opened = true
			h.unlock()
		})
		s.actor("clock", func(a *actor) {
			a.step("cancel")
			cancelled = true
			cancel()
		})
		s.rescue = h.crowd.WakeAll
		s.check = h.holdsNobody
	})
	if orders != 120 { // 5!: one step each
		t.Errorf("%d orders explored, want 120", orders)
	}
}

// The same let loose: the ends of waits race with the opening, and a plain
// variable shows to the race detector that who got in came after it.
func TestWaitEndsForWhatCameFirstInARace(t *testing.T) {
	for range 300 {
		var h hall
		ctx, cancel := context.WithCancel(t.Context())
		x := 0
		together(6, func(i int) {
			switch i {
			case 0:
				x = 42
				h.unlock()
			case 1:
				cancel()
			case 2:
				if !h.enter(context.Background()) || x != 42 {
					t.Errorf("who waits for ever did not get in, or saw %d", x)
				}
			default:
				switch h.enter(ctx) {
				case true:
					if x != 42 {
						t.Errorf("got in before the opening, saw %d", x)
					}
				case false:
					if ctx.Err() == nil {
						t.Error("left before the end")
					}
				}
			}
		})
		h.holdsNobody(t)
		cancel()
	}
}
