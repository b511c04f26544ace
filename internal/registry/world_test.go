package registry_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
)

const strict = -1 // patience of a registry in which nobody overtakes

// thing is a resource that knows the laws. Its plain fields are written by its
// holder and by its owner only, so the race detector sees it when there are two.
type thing struct {
	users    atomic.Int32
	disposed atomic.Int32
	touched  int
}

// world is a registry together with everything that was ever put into it.
type world struct {
	*registry.Registry[*thing]
	t *testing.T

	mu     sync.Mutex
	things []*thing
}

type lease = registry.Lease[*thing]
type entry = registry.Entry[*thing]

func newWorld(t *testing.T, waiters int) *world {
	return &world{Registry: registry.New[*thing](waiters, strict), t: t}
}

// thing makes a resource that has to be disposed of before the end of the world.
func (w *world) thing() *thing {
	x := new(thing)
	w.own(x)
	return x
}

func (w *world) own(x *thing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.things = append(w.things, x)
}

// insert registers a new resource.
func (w *world) insert() handle.ID {
	w.t.Helper()
	e, err := w.Insert(w.thing())
	if err != nil {
		w.t.Fatalf("insert: %v", err)
	}
	return e.ID
}

// acquire is Acquire for a caller that does its duty: it begins to use what it is
// lent, and disposes of what it inherits.
func (w *world) acquire(ctx context.Context, id handle.ID, q lanegate.Request) (lease, error) {
	l, err := w.Acquire(ctx, id, &q)
	if err == nil {
		w.begin(l)
	} else {
		w.inherited(l.Entry, l.Entry != nil)
	}
	return l, err
}

// hold takes a free resource.
func (w *world) hold(id handle.ID) lease {
	w.t.Helper()
	l, err := w.acquire(context.Background(), id, lanegate.Request{NoWait: true})
	if err != nil {
		w.t.Fatalf("a resource thought free: %v", err)
	}
	return l
}

// begin and touch are the use of a resource that is held.
func (w *world) begin(l lease) {
	w.touch(l.Resource, 1)
	l.Resource.touched++
}

func (w *world) touch(x *thing, users int32) {
	if n := x.users.Add(users); n != 1 && users > 0 {
		w.t.Errorf("%d users at a time", n)
	}
	if n := x.disposed.Load(); n != 0 {
		w.t.Errorf("used after it was disposed of")
	}
}

// release ends a lease.
func (w *world) release(l lease) {
	l.Resource.touched++
	w.touch(l.Resource, -1)
	w.inherited(l.Entry, l.Release())
}

// commit ends an opening.
func (w *world) commit(l lease) (orphan bool) {
	l.Resource = w.thing()
	orphan = l.Commit()
	w.inherited(l.Entry, orphan)
	return orphan
}

func (w *world) retire(id handle.ID) (*entry, bool) {
	e, orphan := w.Retire(id)
	w.inherited(e, orphan)
	return e, orphan
}

func (w *world) close() (orphans []*entry) {
	orphans = w.Close()
	for _, e := range orphans {
		w.inherited(e, true)
	}
	return orphans
}

// inherited disposes of a resource if it belongs to the caller.
func (w *world) inherited(e *entry, orphan bool) {
	if !orphan {
		return
	}
	if e.Resource == nil {
		w.t.Error("inherited an entry that never had a resource")
		return
	}
	if n := e.Resource.users.Load(); n != 0 {
		w.t.Errorf("inherited a resource that has %d users", n)
	}
	if n := e.Resource.disposed.Add(1); n != 1 {
		w.t.Errorf("%d owners", n)
	}
	e.Resource.touched++
	w.Disposed(e, errDisposed)
}

var errDisposed = errors.New("how disposal went")

// end closes the registry when nobody is in it any more. Each resource must have
// found its owner.
func (w *world) end() {
	w.t.Helper()
	w.close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if !w.WaitEmpty(ctx) {
		w.t.Errorf("not empty at the end: %+v", w.Stats())
	}
	for i, x := range w.things {
		if n := x.disposed.Load(); n != 1 {
			w.t.Errorf("resource %d was disposed of %d times", i, n)
		}
		if n := x.users.Load(); n != 0 {
			w.t.Errorf("resource %d has %d users", i, n)
		}
	}
	if s := w.Stats(); s != (registry.Stats{}) {
		w.t.Errorf("left over: %+v", s)
	}
}
