package registry_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// B28: a scope that counts from zero is a foreign one by chance.
func TestScopeIsNeverZeroAndDiffers(t *testing.T) {
	seen := map[uint64]bool{0: true}
	for range 1000 {
		scope := registry.New[int](64, strict).Scope()
		if seen[scope] {
			t.Fatalf("scope %d is zero or was given out before", scope)
		}
		seen[scope] = true
	}
}

func TestAnIDIsNeverGivenOutTwice(t *testing.T) {
	w := newWorld(t, 0)
	seen := map[handle.ID]bool{{}: true}
	var live []handle.ID
	for i := range 10_000 {
		id := w.insert()
		if seen[id] || id.Scope() != w.Scope() || id.Generation() == 0 {
			t.Fatalf("ID %v after %d others", id, i)
		}
		seen[id] = true
		if i%3 == 0 {
			l, err := w.Reserve() // what is never committed burns its ID as well
			if err != nil || seen[l.ID] {
				t.Fatalf("reserved %v, %v", l.ID, err)
			}
			seen[l.ID] = true
			w.Abort(l)
		}
		if live = append(live, id); len(live) > 20 {
			k := i * 7 % len(live)
			w.retire(live[k])
			live[k] = live[0]
			live = live[1:]
		}
	}
	w.end()
}

func TestReuseOfASlotBumpsTheGeneration(t *testing.T) {
	w := newWorld(t, 0)
	for want := range uint32(100) {
		id := w.insert()
		if id.Slot() != 0 || id.Generation() != want+1 {
			t.Fatalf("got %v, want slot 0 in generation %d", id, want+1)
		}
		w.retire(id)
	}
	w.end()
}

func TestASlotWhoseGenerationsAreUsedUpIsNeverUsedAgain(t *testing.T) {
	w := newWorld(t, 0)
	first := w.insert()
	w.retire(first)
	w.SkipGenerations(0, math.MaxUint32-2)
	for _, want := range []handle.ID{
		handle.Make(w.Scope(), 0, math.MaxUint32-1),
		handle.Make(w.Scope(), 0, math.MaxUint32),
		handle.Make(w.Scope(), 1, 1), // and from here on slot 1
		handle.Make(w.Scope(), 1, 2),
	} {
		got := w.insert()
		if got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
		if w.Has(first) || w.Has(handle.Make(w.Scope(), 0, 0)) {
			t.Fatalf("an old ID names %v", got)
		}
		w.retire(got)
	}
	w.end()
}

// namesNothing checks every way to use an ID that names nothing.
func namesNothing(t *testing.T, r *registry.Registry[*thing], name string, id handle.ID, want error) {
	t.Helper()
	for _, q := range []lanegate.Request{{}, {NoWait: true}, {FailFast: true}} {
		if l, err := r.Acquire(context.Background(), id, &q); !errors.Is(err, want) || l.Entry != nil {
			t.Errorf("%s: Acquire = %v, %v, want %v", name, l, err, want)
		}
	}
	if e, err := r.Held(id); !errors.Is(err, want) || e != nil {
		t.Errorf("%s: Held = %v, %v, want %v", name, e, err, want)
	}
	if _, ok := r.Try(id); ok {
		t.Errorf("%s: Try lent something", name)
	}
	if r.Has(id) {
		t.Errorf("%s: Has", name)
	}
	if e, orphan := r.Retire(id); e != nil || orphan {
		t.Errorf("%s: Retire = %v, %v", name, e, orphan)
	}
}

func TestAnIDThatNamesNothingIsRefused(t *testing.T) {
	w := newWorld(t, 0)
	live, other := w.insert(), newWorld(t, 0).insert()
	stale := w.insert()
	w.retire(stale)
	ids := []struct {
		name string
		id   handle.ID
		want error
	}{
		{"zero", handle.ID{}, ioerr.ErrHandleNotFound},
		{"stale", stale, ioerr.ErrHandleNotFound},
		{"of another registry", other, ioerr.ErrScopeMismatch},
		{"of scope zero", handle.Make(0, live.Slot(), live.Generation()), ioerr.ErrScopeMismatch},
		{"a live one but for the scope", handle.Make(w.Scope()+1, live.Slot(), live.Generation()), ioerr.ErrScopeMismatch},
		{"before the first", handle.Make(w.Scope(), live.Slot(), 0), ioerr.ErrHandleNotFound},
		{"from the future", handle.Make(w.Scope(), live.Slot(), live.Generation()+1), ioerr.ErrHandleNotFound},
		{"of a free slot", handle.Make(w.Scope(), stale.Slot(), stale.Generation()+1), ioerr.ErrHandleNotFound},
		{"of a slot never used", handle.Make(w.Scope(), stale.Slot()+1, 1), ioerr.ErrHandleNotFound},
		{"just outside the table", handle.Make(w.Scope(), uint32(w.TableLen()), 1), ioerr.ErrHandleNotFound},
		{"far outside the table", handle.Make(w.Scope(), math.MaxUint32, math.MaxUint32), ioerr.ErrHandleNotFound},
	}
	for _, x := range ids {
		namesNothing(t, w.Registry, x.name, x.id, x.want)
		want := x.want
		if x.name != "zero" && x.id.Scope() == w.Scope() {
			want = nil // it could name something
		}
		if err := w.Check(x.id); !errors.Is(err, want) {
			t.Errorf("%s: Check = %v, want %v", x.name, err, want)
		}
	}
	empty := newWorld(t, 0)
	namesNothing(t, empty.Registry, "of an empty table", handle.Make(empty.Scope(), 0, 1), ioerr.ErrHandleNotFound)

	if !w.Has(live) {
		t.Error("the one that is there is gone")
	}
	w.end()
	for _, x := range ids {
		namesNothing(t, w.Registry, x.name+", closed", x.id, ioerr.ErrShutdown)
	}
}
