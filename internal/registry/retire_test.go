package registry_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// gone checks that an ID names nothing any more.
func (w *world) gone(id handle.ID, want error) {
	w.t.Helper()
	namesNothing(w.t, w.Registry, "gone", id, want)
}

func TestRetireOfAnIdleResourceMakesTheCallerItsOwner(t *testing.T) {
	w := newWorld(t, 64)
	id := w.insert()
	e, orphan := w.Retire(id)
	if !orphan || e == nil || e.ID != id || e.Held() {
		t.Fatalf("Retire = %v, %v", e, orphan)
	}
	w.gone(id, ioerr.ErrHandleNotFound)
	if got, want := w.Stats(), (registry.Stats{Retiring: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	w.inherited(e, true)
	w.end()
}

// I-41: the holder goes on undisturbed and becomes the owner when it is done.
func TestRetireOfABusyResourceMakesItsHolderTheOwner(t *testing.T) {
	w := newWorld(t, 64)
	id := w.insert()
	l := w.hold(id)
	e, orphan := w.Retire(id)
	if orphan || e != l.Entry || !e.Held() {
		t.Fatalf("Retire = %v, %v, held %t", e, orphan, e.Held())
	}
	w.gone(id, ioerr.ErrHandleNotFound)
	w.touch(l.Resource, -1)
	if !l.Release() {
		t.Error("the last holder is not the owner")
	}
	w.inherited(e, true)
	w.end()
}

// I-39: the second time there is nothing to retire, whatever became of the first.
func TestRetireTwiceIsNothingTheSecondTime(t *testing.T) {
	w := newWorld(t, 64)
	idle, busy := w.insert(), w.insert()
	l := w.hold(busy)
	for _, id := range []handle.ID{idle, busy} {
		if e, _ := w.retire(id); e == nil {
			t.Error("not retired")
		}
		w.gone(id, ioerr.ErrHandleNotFound)
	}
	w.release(l)
	for _, id := range []handle.ID{idle, busy} {
		w.gone(id, ioerr.ErrHandleNotFound)
	}
	w.end()
}

// I-42, B07: each waiter is answered, once, while the holder holds on.
func TestRetireRefusesEveryWaiterOnce(t *testing.T) {
	for name, patience := range patiences {
		synctest.Test(t, func(t *testing.T) {
			w := &world{Registry: registry.New[*thing](64, patience), t: t}
			id := w.insert()
			l := w.hold(id)
			errs := make(chan error, 2*64)
			for range 64 {
				go func() {
					_, err := w.acquire(t.Context(), id, lanegate.Request{})
					errs <- err
				}()
			}
			synctest.Wait()
			w.retire(id)
			synctest.Wait()
			if len(errs) != 64 {
				t.Errorf("%s: %d answers, want 64", name, len(errs))
			}
			for range len(errs) {
				if err := <-errs; !errors.Is(err, ioerr.ErrHandleNotFound) {
					t.Errorf("%s: %v, want ErrHandleNotFound", name, err)
				}
			}
			w.release(l)
			w.end()
		})
	}
}

// I-38, and its ID is not the next one's: an opening that is retired ends with its
// opener as the owner of what it opened, or with nothing.
func TestRetireOfAnOpeningMakesItsOpenerTheOwner(t *testing.T) {
	for _, opens := range []bool{true, false} {
		w := newWorld(t, 64)
		l, err := w.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		if w.Has(l.ID) || !l.Held() {
			t.Errorf("opening: Has %t, held %t", w.Has(l.ID), l.Held())
		}
		if got, want := w.Stats(), (registry.Stats{Live: 1}); got != want {
			t.Errorf("opening: %+v, want %+v", got, want)
		}
		if e, orphan := w.Retire(l.ID); e != l.Entry || orphan {
			t.Errorf("Retire = %v, %v", e, orphan)
		}
		w.gone(l.ID, ioerr.ErrHandleNotFound)
		if opens {
			if !w.commit(l) {
				t.Error("the opener is not the owner")
			}
		} else {
			w.Abort(l)
		}
		w.gone(l.ID, ioerr.ErrHandleNotFound)
		w.end()
	}
}

// I-34: nothing is left of an opening that failed, also for those who guessed its
// ID and wait.
func TestAbortLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 64)
		l, err := w.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		var refused atomic.Int32
		for range 3 {
			go func() {
				if _, err := w.acquire(t.Context(), l.ID, lanegate.Request{}); errors.Is(err, ioerr.ErrHandleNotFound) {
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		w.Abort(l)
		synctest.Wait()
		if n := refused.Load(); n != 3 {
			t.Errorf("%d of 3 waiters refused", n)
		}
		if got := w.Stats(); got != (registry.Stats{}) || l.Held() {
			t.Errorf("left over: %+v, held %t", got, l.Held())
		}
		<-l.Gone()
		if err := l.Err(); err != nil {
			t.Errorf("Err = %v", err)
		}
		w.gone(l.ID, ioerr.ErrHandleNotFound)
		w.end()
	})
}

// I-45: the slot of a retired resource serves the next at once, under another ID,
// while the old holder holds on and after.
func TestRetireThenInsertWorksAtOnce(t *testing.T) {
	w := newWorld(t, 64)
	var ids []handle.ID
	var held []lease
	for i := range 100 {
		id := w.insert()
		if slices.Contains(ids, id) || id.Slot() != 0 {
			t.Fatalf("cycle %d: %v", i, id)
		}
		ids = append(ids, id)
		held = append(held, w.hold(id))
		w.retire(id)
		w.gone(id, ioerr.ErrHandleNotFound)
	}
	for _, l := range held {
		w.release(l)
	}
	w.end()
}
