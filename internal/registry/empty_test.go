package registry_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/registry"
)

// Law: WaitEmpty returns only when everything has been disposed of, and then to
// all who wait.
func TestWaitEmptyReturnsWhenTheLastIsDisposedOfAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 64)
		idle, busy := w.insert(), w.hold(w.insert())
		opening, err := w.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		failing, err := w.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		var done atomic.Int32
		for range 3 {
			go func() {
				if w.WaitEmpty(t.Context()) {
					done.Add(1)
				}
			}()
		}
		still := func(when string, want int32) {
			synctest.Wait()
			if n := done.Load(); n != want {
				t.Errorf("%s: %d of 3 returned, want %d", when, n, want)
			}
		}
		still("at the beginning", 0)
		e, _ := w.Retire(idle)
		still("one retired", 0)
		w.Abort(failing)
		still("one aborted", 0)
		w.close()
		still("closed", 0)
		w.release(busy)
		still("the holder done", 0)
		w.commit(opening)
		still("the opener done", 0)
		w.inherited(e, true)
		still("all disposed of", 3)
		w.end()
	})
}

func TestWaitEmptyOfAnEmptyRegistryDoesNotWait(t *testing.T) {
	w := newWorld(t, 64)
	for range 2 {
		if !w.WaitEmpty(cancelledContext(t)) {
			t.Error("false although it was empty")
		}
		w.retire(w.insert())
	}
	w.end()
}

func TestWaitEmptyEndsWithItsContextAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 64)
		id := w.insert()
		ctx, cancel := context.WithCancel(t.Context())
		answers := make(chan bool, 3)
		for _, ctx := range []context.Context{ctx, t.Context(), ctx} {
			go func() { answers <- w.WaitEmpty(ctx) }()
		}
		synctest.Wait()
		if w.WaitEmpty(cancelledContext(t)) {
			t.Error("true although it was not empty")
		}
		cancel()
		synctest.Wait()
		w.retire(id)
		synctest.Wait()
		for _, want := range []bool{false, false, true} {
			if got := <-answers; got != want {
				t.Errorf("%t, want %t", got, want)
			}
		}
		w.end()
	})
}

// Gone, Err, Stats, Retiring and WaitEmpty tell of one event.
func TestGoneIsClosedWhenTheResourceHasBeenDisposedOf(t *testing.T) {
	w := newWorld(t, 64)
	id := w.insert()
	l := w.hold(id)
	gone := l.Gone()
	open := func(when string) {
		t.Helper()
		select {
		case <-gone:
			t.Errorf("%s: gone", when)
		default:
		}
	}
	open("held")
	w.Retire(id)
	open("retired")
	if got := w.Retiring(); len(got) != 1 || got[0] != l.Entry {
		t.Errorf("Retiring = %v", got)
	}
	l.Release()
	open("given back")
	w.Disposed(l.Entry, errDisposed)
	<-gone
	<-l.Gone() // also for those who ask late
	if err := l.Err(); !errors.Is(err, errDisposed) {
		t.Errorf("Err = %v", err)
	}
	if got := w.Retiring(); len(got) != 0 {
		t.Errorf("Retiring = %v", got)
	}
	if !w.WaitEmpty(cancelledContext(t)) {
		t.Error("not empty")
	}
}

func TestStatsCountWhatIsThere(t *testing.T) {
	w := newWorld(t, 64)
	check := func(live, retiring int) {
		t.Helper()
		got := w.Stats()
		if want := (registry.Stats{Live: live, Retiring: retiring}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if n := len(w.Retiring()); n != retiring {
			t.Errorf("%d in Retiring, want %d", n, retiring)
		}
	}
	check(0, 0)
	id := w.insert()
	check(1, 0)
	opening, err := w.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	check(2, 0)
	l := w.hold(id)
	check(2, 0)
	w.retire(id)
	check(1, 1)
	w.commit(opening)
	check(1, 1)
	w.release(l)
	check(1, 0)
	w.close()
	check(0, 0)
	w.end()
}
