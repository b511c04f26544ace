package registry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// I-03, I-33: from Close on there is one answer, for whatever ID and way in.
func TestAfterCloseEverythingIsRefusedAsShutdown(t *testing.T) {
	w := newWorld(t, 64)
	gone, id, busy := w.insert(), w.insert(), w.insert()
	w.retire(gone)
	l := w.hold(busy)
	w.close()
	for _, id := range []handle.ID{gone, id, busy, {}, handle.Make(1, 2, 3)} {
		w.gone(id, ioerr.ErrShutdown)
	}
	if l, err := w.Reserve(); !errors.Is(err, ioerr.ErrShutdown) || l != (lease{}) {
		t.Errorf("Reserve = %v, %v", l, err)
	}
	if _, err := w.Insert(new(thing)); !errors.Is(err, ioerr.ErrShutdown) {
		t.Errorf("Insert: %v", err)
	}
	if got, want := w.Stats(), (registry.Stats{Retiring: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	w.release(l)
	w.end()
}

// Each resource has the owner that its state says: the closer if it is idle, else
// whoever has it.
func TestCloseGivesTheClosersWhatIsIdle(t *testing.T) {
	w := newWorld(t, 64)
	idle := map[handle.ID]bool{w.insert(): true, w.insert(): true}
	busy := w.hold(w.insert())
	opening, err := w.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	failing, err := w.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range w.close() {
		if !idle[e.ID] {
			t.Errorf("the closer was given %v", e.ID)
		}
		delete(idle, e.ID)
	}
	if len(idle) != 0 {
		t.Errorf("the closer was not given %v", idle)
	}
	w.Abort(failing)
	if got, want := w.Stats(), (registry.Stats{Retiring: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !w.commit(opening) {
		t.Error("the opener is not the owner")
	}
	w.release(busy)
	w.end()
}

// I-51, I-52: the waiters are answered while the holder holds on, and never as if
// the resource alone were gone; also those that a retirement refuses at that
// moment.
func TestCloseRefusesEveryWaiterAsShutdown(t *testing.T) {
	for name, patience := range patiences {
		for _, retireToo := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := &world{Registry: registry.New[*thing](64, patience), t: t}
				id := w.insert()
				l := w.hold(id)
				opening, err := w.Reserve()
				if err != nil {
					t.Fatal(err)
				}
				errs := make(chan error, 3*64)
				for i := range 2 * 64 {
					go func() {
						_, err := w.acquire(t.Context(), []handle.ID{id, opening.ID}[i%2], lanegate.Request{})
						errs <- err
					}()
				}
				synctest.Wait()
				w.close()
				if retireToo {
					w.gone(id, ioerr.ErrShutdown)
				}
				synctest.Wait()
				if len(errs) != 2*64 {
					t.Errorf("%s: %d answers, want 128", name, len(errs))
				}
				for range len(errs) {
					if err := <-errs; !errors.Is(err, ioerr.ErrShutdown) {
						t.Errorf("%s: %v, want ErrShutdown", name, err)
					}
				}
				w.commit(opening)
				w.release(l)
				w.end()
			})
		}
	}
}

// I-53: the second Close has nothing to give.
func TestCloseTwiceIsNothingTheSecondTime(t *testing.T) {
	w := newWorld(t, 64)
	w.insert()
	if got := w.close(); len(got) != 1 {
		t.Errorf("%d orphans, want 1", len(got))
	}
	for range 3 {
		if got := w.close(); got != nil {
			t.Errorf("given again: %v", got)
		}
	}
	w.end()
}

// With many at once each resource is given to one of them, and when one has
// returned everything is retired.
func TestConcurrentClosesShareOutEachResourceOnce(t *testing.T) {
	for range 200 {
		w := newWorld(t, 64)
		for range 20 {
			w.insert()
		}
		l := w.hold(w.insert())
		race(4, func(i int) {
			switch i {
			case 0:
				w.release(l)
			default:
				w.close()
				if s := w.Stats(); s.Live != 0 {
					t.Errorf("%d are live after Close", s.Live)
				}
			}
		})
		w.end()
	}
}

// A cancelled waiter hears of the shutdown if that came before it could leave.
func TestShutdownComesBeforeTheEndOfTheContext(t *testing.T) {
	w := newWorld(t, 64)
	id := w.insert()
	l := w.hold(id)
	w.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.refuses(ctx, "cancelled, after Close", l, lanegate.Request{}, ioerr.ErrShutdown)
	w.release(l)
	w.end()
}
