package registry_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
)

// member is a resource of a registry that grows, and what can be said about it.
type member struct {
	id       handle.ID
	thing    *thing
	retiring atomic.Bool // may be gone
	retired  atomic.Bool // is gone
}

// Law: whoever has an ID finds its resource from the moment on that the ID was
// given out to the moment that it is retired, and nothing after that, while the
// table grows under its eyes.
func TestLookUpsAreRightWhileTheTableGrows(t *testing.T) {
	const size = 10_000
	w := newWorld(t, 64)
	members := make([]member, size)
	var born atomic.Int64
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for n := born.Load(); n < size; n = born.Load() {
				if n > 0 {
					w.lookUp(&members[n-1-rand.Int64N(min(n, 100))])
				}
			}
		})
	}
	for i := range members {
		m := &members[i]
		m.thing = w.thing()
		e, err := w.Insert(m.thing)
		if err != nil {
			t.Fatal(err)
		}
		m.id = e.ID
		born.Store(int64(i) + 1)
		if i%3 == 0 {
			old := &members[i-rand.IntN(min(i+1, 100))]
			old.retiring.Store(true)
			w.retire(old.id)
			old.retired.Store(true)
		}
	}
	readers.Wait()
	live := 0
	for i := range members {
		w.lookUp(&members[i])
		if !members[i].retired.Load() {
			live++
		}
	}
	if got := w.Stats().Live; got != live {
		t.Errorf("%d live, want %d", got, live)
	}
	if n := w.TableLen(); n < live || n > 2*size {
		t.Errorf("a table of %d slots for %d resources", n, live)
	}
	w.end()
}

// lookUp checks one look at a member in one of the ways there are.
func (w *world) lookUp(m *member) {
	gone := m.retired.Load()
	var found bool
	switch rand.IntN(3) {
	case 0:
		found = w.Has(m.id)
	case 1:
		l, ok := w.Try(m.id)
		if found = ok; !ok { // or somebody holds it
			found = !gone
			break
		}
		w.visited(l, m)
		w.begin(l)
		w.release(l)
	default:
		l, err := w.acquire(context.Background(), m.id, lanegate.Request{})
		if found = err == nil; found {
			w.visited(l, m)
			w.release(l)
		}
	}
	if mayBeGone := m.retiring.Load(); found && gone || !found && !mayBeGone {
		w.t.Errorf("%v: found %t; retired before the look %t, about to be after it %t", m.id, found, gone, mayBeGone)
	}
}

func (w *world) visited(l lease, m *member) {
	if l.ID != m.id || l.Resource != m.thing {
		w.t.Errorf("found %v under %v", l.ID, m.id)
	}
}
