package registry_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// A registry closes so many gates that somebody else comes in between: who finds
// one resource gone must find all of them gone, with the consequences.
func TestWhoFindsTheRegistryClosedFindsNoResourceLentAnyMore(t *testing.T) {
	for range 3 {
		w := newWorld(t, 64)
		for range 10_000 {
			w.insert()
		}
		id := w.insert()
		held := w.hold(id)
		failing, err := w.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		visited := make(chan error, 1)
		go func() {
			l, err := w.acquire(t.Context(), id, lanegate.Request{})
			if err == nil {
				w.release(l)
			}
			visited <- err
		}()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			w.close()
		}()
		for w.Stats().Live != 0 {
			runtime.Gosched()
		}
		w.Abort(failing) // or it would be somebody's orphan
		w.release(held)  // or the visitor would get it
		<-closed
		if err := <-visited; !errors.Is(err, ioerr.ErrShutdown) {
			t.Errorf("visitor: %v, want ErrShutdown", err)
		}
		w.end()
	}
}

// The same for one resource: who has found it gone, by whatever way, gives back
// its lease, and of all who try to get it nobody does.
func TestWhoFindsAResourceGoneFindsItLentNoMore(t *testing.T) {
	for name, gone := range map[string]func(*world, lease) bool{
		"Retire": func(w *world, l lease) bool { e, _ := w.Retire(l.ID); return e == nil },
		"Has":    func(w *world, l lease) bool { return !w.Has(l.ID) },
		"Held":   func(w *world, l lease) bool { _, err := w.Held(l.ID); return err != nil },
		"Stats":  func(w *world, _ lease) bool { return w.Stats().Live == 0 },
	} {
		for range 1000 {
			w := newWorld(t, 64)
			l := w.hold(w.insert())
			race(5, func(i int) {
				switch i {
				case 0:
					w.Retire(l.ID)
				case 1:
					for !gone(w, l) {
						runtime.Gosched()
					}
					w.release(l)
				default:
					err := ioerr.ErrReentry
					for errors.Is(err, ioerr.ErrReentry) {
						runtime.Gosched()
						_, err = w.Acquire(t.Context(), l.ID, &lanegate.Request{NoWait: true})
					}
					if !errors.Is(err, ioerr.ErrHandleNotFound) {
						t.Errorf("%s: found gone, but %v", name, err)
					}
				}
			})
			if w.end(); t.Failed() {
				return
			}
		}
	}
}

// put inserts a resource, and reports false if the registry is closed.
func (w *world) put(x *thing) bool {
	_, err := w.Insert(x)
	if err != nil && !errors.Is(err, ioerr.ErrShutdown) {
		w.t.Errorf("insert: %v", err)
	}
	return err == nil
}

// settle lets other goroutines run until they are blocked, most likely.
func settle() {
	for range 100 {
		runtime.Gosched()
	}
}

// Law: what is put in while the registry closes is refused, or is retired with the
// rest.
func TestNothingIsInsertedBehindAClose(t *testing.T) {
	for range 100 {
		w := newWorld(t, 64)
		resume := w.Pause()
		var wg sync.WaitGroup
		wg.Go(func() {
			w.close()
			if s := w.Stats(); s.Live != 0 {
				t.Errorf("after Close: %+v", s)
			}
		})
		for range 4 {
			settle()
			wg.Go(func() {
				if x := new(thing); w.put(x) {
					w.own(x)
				}
			})
		}
		settle()
		resume()
		wg.Wait()
		if s := w.Stats(); s.Live != 0 {
			t.Errorf("behind Close: %+v", s)
		}
		w.end()
	}
}

// The same while the table grows, which takes its time.
func TestNothingIsInsertedBehindACloseWhileTheTableGrows(t *testing.T) {
	for range 6 {
		w := newWorld(t, 64)
		for w.insert(); w.Stats().Live < w.TableLen() || w.TableLen() < 1<<12; w.insert() {
		}
		var begun atomic.Bool
		race(2, func(i int) {
			if i == 0 {
				begun.Store(true)
				if x := new(thing); w.put(x) {
					w.own(x)
				}
				return
			}
			for !begun.Load() {
				runtime.Gosched()
			}
			for range rand.IntN(2000) {
				begun.Load() // a little later
			}
			w.close()
		})
		if s := w.Stats(); s.Live != 0 {
			t.Errorf("behind Close: %+v", s)
		}
		w.end()
	}
}

// Whoever learns from Gone that a resource has been disposed of does not find it
// among those that have not: while the registry cannot note it, it is not gone.
func TestWhatIsGoneIsNotRetiringAnyMore(t *testing.T) {
	for range 100 {
		w := newWorld(t, 64)
		e, _ := w.Retire(w.insert())
		resume := w.Pause()
		var wg sync.WaitGroup
		wg.Go(func() { w.inherited(e, true) })
		wg.Go(func() {
			<-e.Gone()
			if s := w.Stats(); s != (registry.Stats{}) {
				t.Errorf("gone, but %+v", s)
			}
		})
		settle()
		select {
		case <-e.Gone():
			t.Error("gone before the registry has noted it")
		default:
		}
		resume()
		wg.Wait()
		w.end()
	}
}
