package registry_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// share takes a share, which must be free.
func share(t *testing.T, r *registry.Registry[int], e *registry.Entry[int]) registry.Lease[int] {
	t.Helper()
	l, err := r.Acquire(t.Context(), e.ID, &lanegate.Request{NoWait: true})
	if err != nil {
		t.Fatalf("no share: %v", err)
	}
	return l
}

// Law: an entry has as many holders as shares, and whoever waits gets the next that
// comes free.
func TestAnEntryHasAsManyHoldersAsShares(t *testing.T) {
	for _, shares := range []int{1, 2, 9, 1<<16 - 1} {
		synctest.Test(t, func(t *testing.T) {
			r := registry.NewShared[int](shares, 1, strict)
			e, err := r.Insert(1)
			if err != nil {
				t.Fatal(err)
			}
			var held []registry.Lease[int]
			for range shares {
				held = append(held, share(t, r, e))
			}
			if n := e.Holders(); n != shares {
				t.Errorf("%d holders", n)
			}
			if _, ok := r.Try(e.ID); ok {
				t.Error("one more")
			}
			var got registry.Lease[int]
			go func() { got, err = r.Acquire(t.Context(), e.ID, &lanegate.Request{}) }()
			synctest.Wait()
			if got.Entry != nil || err != nil {
				t.Errorf("did not wait: %v", err)
			}
			held[0].Release()
			synctest.Wait()
			if got.Entry != e || err != nil {
				t.Errorf("waiter: %v", err)
			}
			held[0] = got
			_, orphan := r.Retire(e.ID)
			for i, l := range held {
				if orphan {
					t.Fatalf("owned by nobody's call with %d shares out", shares-i)
				}
				orphan = l.Release()
			}
			if !orphan {
				t.Error("the last share inherits nothing")
			}
		})
	}
}

// Law: no share of what is being opened is lent, whoever knows its ID.
func TestNoShareIsLentBeforeTheEntryIsOpen(t *testing.T) {
	r := registry.NewShared[int](8, 8, strict)
	l, err := r.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Try(l.ID); ok {
		t.Error("lent")
	}
	if _, err := r.Acquire(t.Context(), l.ID, &lanegate.Request{}); !errors.Is(err, ioerr.ErrHandleNotFound) {
		t.Errorf("%v", err)
	}
	l.Resource = 1
	if l.Commit() {
		t.Error("an orphan")
	}
	share(t, r, l.Entry).Release()
}

// Law: no share of what is barred is lent, nor waited for, also when none is out.
func TestNoShareOfABarredEntryIsLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry.NewShared[int](2, 8, strict)
		e, _ := r.Insert(1)
		a, b := share(t, r, e), share(t, r, e)
		bad := errors.New("bad")
		refused := make(chan error, 1)
		go func() {
			_, err := r.Acquire(context.Background(), e.ID, &lanegate.Request{})
			refused <- err
		}()
		synctest.Wait()
		r.Bar(e, func() error { return bad })
		if err := <-refused; !errors.Is(err, bad) {
			t.Errorf("waiter: %v", err)
		}
		for _, l := range []registry.Lease[int]{a, b} {
			if l.Release() {
				t.Error("an orphan, but not retired")
			}
			if _, ok := r.Try(e.ID); ok {
				t.Error("lent")
			}
			if _, err := r.Acquire(context.Background(), e.ID, &lanegate.Request{}); !errors.Is(err, bad) {
				t.Errorf("%v", err)
			}
		}
		if _, orphan := r.Retire(e.ID); !orphan {
			t.Error("idle, but no orphan")
		}
		r.Unbar(e)
	})
}

// Law: whatever the order of retirement and of the ends of the shares, one of them owns
// the resource.
func TestOneOfAllSharersOwnsARetiredResource(t *testing.T) {
	for range 300 {
		r := registry.NewShared[int](8, 64, strict)
		e, _ := r.Insert(1)
		var owners atomic.Int32
		var wg sync.WaitGroup
		own := func(orphan bool) {
			if orphan {
				owners.Add(1)
				r.Disposed(e, nil)
			}
		}
		for range 12 {
			wg.Go(func() {
				l, ok := r.Try(e.ID)
				if !ok {
					var err error
					if l, err = r.Acquire(context.Background(), e.ID, &lanegate.Request{}); err != nil {
						own(l.Entry != nil)
						return
					}
				}
				own(l.Release())
			})
		}
		wg.Go(func() { _, orphan := r.Retire(e.ID); own(orphan) })
		wg.Wait()
		if n := owners.Load(); n != 1 || r.Stats() != (registry.Stats{}) {
			t.Fatalf("%d owners, %+v", n, r.Stats())
		}
	}
}
