//go:build !race

package registry_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// What the race detector would distort: sizes, and the cache of tickets.

func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Law: memory follows the resources that are there, not those that have been.
func TestMemoryIsFlatOverAMillionResources(t *testing.T) {
	r := registry.New[int](64, strict)
	cycle := func(n int) {
		for i := range n {
			l, err := r.Reserve()
			if err != nil {
				t.Fatal(err)
			}
			if l.Resource = i; i%10 == 0 {
				r.Abort(l)
				continue
			}
			l.Commit()
			e, orphan := r.Retire(l.ID)
			if !orphan {
				t.Fatal("no orphan")
			}
			r.Disposed(e, nil)
		}
	}
	cycle(1000)
	before := heap()
	cycle(1_000_000)
	if grown := heap() - before; grown > 64<<10 {
		t.Errorf("grown by %d bytes", grown)
	}
	if n := r.TableLen(); n != 8 {
		t.Errorf("a table of %d slots", n)
	}
	runtime.KeepAlive(r)
}

// The same with a line before each, and a patience that outlives it: the timer of
// the line is no reason to keep it.
func TestMemoryIsFlatHoweverLongThePatience(t *testing.T) {
	w := &world{Registry: registry.New[*thing](64, time.Hour), t: t}
	x := w.thing()
	ctx := cancelledContext(t)
	cycle := func(n int) {
		for range n {
			e, err := w.Insert(x)
			if err != nil {
				t.Fatal(err)
			}
			l := w.hold(e.ID)
			w.refuses(ctx, "who leaves", l, lanegate.Request{}, context.Canceled)
			w.Retire(l.ID)
			w.touch(x, -1)
			if !l.Release() {
				t.Fatal("no orphan")
			}
			w.Disposed(l.Entry, nil)
		}
	}
	cycle(1000)
	before := heap()
	cycle(20_000)
	if grown := heap() - before; grown > 64<<10 {
		t.Errorf("grown by %d bytes", grown)
	}
	runtime.KeepAlive(w)
}

// What a resource costs while it is there, and what remains of its place.
func TestAPlaceCostsLittle(t *testing.T) {
	const n = 100_000
	before := heap()
	r := registry.New[int](64, strict)
	for range n {
		if _, err := r.Insert(1); err != nil {
			t.Fatal(err)
		}
	}
	live := (heap() - before) / n
	for _, e := range r.Close() {
		r.Disposed(e, nil)
	}
	left := (heap() - before) / n
	t.Logf("%d bytes for each resource, %d for each place that is free again", live, left)
	if live > 1024 || left > 100 {
		t.Errorf("%d bytes for each resource, %d for each place that is free again", live, left)
	}
	runtime.KeepAlive(r)
}

func TestRefusalsAllocateNothing(t *testing.T) {
	w := newWorld(t, 0)
	l := w.hold(w.insert())
	for want, q := range map[error]lanegate.Request{
		ioerr.ErrWaitersFull: {},
		ioerr.ErrHandleBusy:  {FailFast: true},
		ioerr.ErrReentry:     {NoWait: true},
	} {
		if n := testing.AllocsPerRun(100, func() { w.refuses(t.Context(), "refusal", l, q, want) }); n != 0 {
			t.Errorf("%v: %v allocations", want, n)
		}
	}
	w.release(l)
	w.end()
}
