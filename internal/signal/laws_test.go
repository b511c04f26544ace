package signal_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/signal"
)

// Law: a token posted at any time ends the sleep that it was posted for.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Run("posted before the sleep", func(t *testing.T) {
		for name, sleep := range sleeps {
			synctest.Test(t, func(t *testing.T) {
				p := signal.NewParker()
				p.Wake()
				if got := sleep(p); got != signal.Woken {
					t.Errorf("%s ended with reason %d, want Woken", name, got)
				}
				holdsNoToken(t, p)
			})
		}
	})
	t.Run("posted during the sleep", func(t *testing.T) {
		for name, sleep := range sleeps {
			synctest.Test(t, func(t *testing.T) {
				p := signal.NewParker()
				var got signal.Reason
				go func() { got = sleep(p) }()
				synctest.Wait()
				if got != 0 {
					t.Fatalf("%s ended without a token, reason %d", name, got)
				}
				p.Wake()
				synctest.Wait()
				if got != signal.Woken {
					t.Errorf("%s: reason %d after the token, want Woken", name, got)
				}
				holdsNoToken(t, p)
			})
		}
	})
	t.Run("posted in any order of the steps of three wakers", func(t *testing.T) {
		orders := explore(t, func(s *schedule) { deskModel(s, 3, 0) })
		t.Logf("%d orders", orders)
		if orders < 900 {
			t.Errorf("only %d orders explored", orders)
		}
	})
	t.Run("posted in a race", func(t *testing.T) {
		raceDesk(t, 4, 5_000, false)
	})
}

// Law: a token ends one sleep, and none is posted while one has not been taken;
// so no token is left over to end a later, unrelated sleep.
func TestNoWakeUpTooMany(t *testing.T) {
	t.Run("a second Wake before the token is taken panics", func(t *testing.T) {
		for name, sleep := range sleeps {
			p := signal.NewParker()
			p.Wake()
			for range 2 {
				if !wakePanics(p) {
					t.Errorf("%s: a second token was posted", name)
				}
			}
			sleep(p) // the first token is still good
			if wakePanics(p) {
				t.Errorf("%s: Wake panicked after the token was taken", name)
			}
			p.Take()
		}
	})
	t.Run("of many Wakes at once one posts the token", func(t *testing.T) {
		const wakers = 4
		p := signal.NewParker()
		for range 500 {
			var panics atomic.Int32
			var wg sync.WaitGroup
			for range wakers {
				wg.Go(func() {
					if wakePanics(p) {
						panics.Add(1)
					}
				})
			}
			wg.Wait()
			if got := panics.Load(); got != wakers-1 {
				t.Fatalf("%d of %d Wakes panicked, want all but one", got, wakers)
			}
			p.Take()
		}
	})
	t.Run("a token ends one sleep", func(t *testing.T) {
		for name, sleep := range sleeps {
			synctest.Test(t, func(t *testing.T) {
				p := signal.NewParker()
				slept := 0
				go func() {
					for range 2 {
						sleep(p)
						slept++
					}
				}()
				for want := range 2 {
					synctest.Wait()
					if slept != want {
						t.Errorf("%s: %d sleeps ended by %d tokens", name, slept, want)
					}
					p.Wake()
				}
				synctest.Wait()
				holdsNoToken(t, p)
			})
		}
	})
	t.Run("in any order of the steps of two wakers and the end of the first sleep", func(t *testing.T) {
		orders := explore(t, func(s *schedule) { deskModel(s, 2, 1) })
		t.Logf("%d orders", orders)
		if orders < 1300 {
			t.Errorf("only %d orders explored", orders)
		}
	})
	t.Run("in a race with the ends of sleeps", func(t *testing.T) {
		raceDesk(t, 4, 5_000, true)
	})
}
