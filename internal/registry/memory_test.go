package registry_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
)

// block is a resource that is worth being freed.
type block [1 << 16]byte

// Law: the registry keeps no resource alive that has been disposed of, and none
// that it refused; neither by its table and those it grew out of, nor by the line
// or its timer.
func TestWhatIsDisposedOfIsNotKeptAlive(t *testing.T) {
	type reg = registry.Registry[*block]
	use := func(r *reg, id handle.ID, before func()) {
		l, err := r.Acquire(t.Context(), id, &lanegate.Request{})
		if err != nil {
			t.Fatal(err)
		}
		before()
		if l.Release() {
			r.Disposed(l.Entry, nil)
		}
	}
	retire := func(r *reg, id handle.ID) {
		if e, orphan := r.Retire(id); orphan {
			r.Disposed(e, nil)
		}
	}
	insert := func(r *reg, b *block) handle.ID {
		e, err := r.Insert(b)
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	for name, live := range map[string]func(*reg, *block){
		"retired": func(r *reg, b *block) { retire(r, insert(r, b)) },
		"retired in use": func(r *reg, b *block) {
			id := insert(r, b)
			use(r, id, func() { retire(r, id) })
		},
		"retired with a line": func(r *reg, b *block) {
			id := insert(r, b)
			use(r, id, func() {
				done := make(chan struct{})
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					go func() {
						defer cancel()
						_, _ = r.Acquire(ctx, id, &lanegate.Request{})
						done <- struct{}{}
					}()
				}
				<-done
				<-done
				retire(r, id)
			})
		},
		"retired after growth": func(r *reg, b *block) {
			id := insert(r, b)
			for range 100 {
				insert(r, nil)
			}
			retire(r, id)
		},
		"replaced": func(r *reg, b *block) {
			id := insert(r, b)
			use(r, id, func() {
				e, err := r.Held(id)
				if err != nil {
					t.Fatal(err)
				}
				e.Resource = nil
			})
		},
		"refused": func(r *reg, b *block) {
			r.Close()
			_, _ = r.Insert(b)
		},
	} {
		for _, patience := range []time.Duration{strict, time.Hour} {
			r := registry.New[*block](64, patience)
			kept := func() weak.Pointer[block] {
				b := new(block)
				live(r, b)
				return weak.Make(b)
			}()
			for range 3 {
				runtime.GC()
			}
			if kept.Value() != nil {
				t.Errorf("%s, patience %v: kept alive", name, patience)
			}
			runtime.KeepAlive(r)
		}
	}
}

// An ID is no pointer, but an entry is: whoever waited for the end of one may drop
// it, and it is gone.
func TestAnEntryIsFreedWithItsResource(t *testing.T) {
	w := newWorld(t, 64)
	freed := make(chan struct{})
	func() {
		e, orphan := w.Retire(w.insert())
		runtime.AddCleanup(e, func(struct{}) { close(freed) }, struct{}{})
		w.inherited(e, orphan)
		<-e.Gone()
	}()
	for {
		runtime.GC()
		runtime.Gosched() // to the goroutine of the cleanups
		select {
		case <-freed:
			w.end()
			return
		default:
		}
	}
}

func TestLookUpsAllocateNothing(t *testing.T) {
	w := newWorld(t, 64)
	id, stale := w.insert(), w.insert()
	w.retire(stale)
	ctx := t.Context()
	for name, f := range map[string]func(){
		"Has":   func() { w.Has(id) },
		"Held":  func() { _, _ = w.Held(id) },
		"Check": func() { _ = w.Check(id) },
		"Try": func() {
			l, _ := w.Try(id)
			l.Release()
		},
		"Acquire": func() {
			l, _ := w.Acquire(ctx, id, &lanegate.Request{})
			l.Release()
		},
		"Acquire, stale":   func() { _, _ = w.Acquire(ctx, stale, &lanegate.Request{}) },
		"Acquire, foreign": func() { _, _ = w.Acquire(ctx, handle.Make(1, 0, 1), &lanegate.Request{}) },
		"Retire, stale":    func() { w.Retire(stale) },
		"Stats":            func() { w.Stats() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	w.end()
}

// A line that comes and goes leaves nothing behind, however often.
func TestALineThatComesAndGoesLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 64)
		id := w.insert()
		l := w.hold(id)
		for range 200 {
			ctx, cancel := context.WithCancel(t.Context())
			for range 64 {
				go func() { _, _ = w.acquire(ctx, id, lanegate.Request{}) }()
			}
			synctest.Wait()
			cancel()
			synctest.Wait()
		}
		w.release(l)
		w.release(w.hold(id))
		w.end()
	})
}
