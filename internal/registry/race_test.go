package registry_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// race calls f n times at once, each after a little while of its own, and waits.
func race(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for range rand.IntN(4) {
				runtime.Gosched()
			}
			f(i)
		})
	}
	wg.Wait()
}

// crew is goroutines that stay, for tests of so many rounds that new ones each time
// would cost more than what they do (and the race detector keeps 300 bytes of each
// for ever).
type crew struct {
	work chan func()
	done sync.WaitGroup
}

// together calls the functions at once, each after a little while of its own, and
// waits.
func (c *crew) together(fs []func()) {
	c.done.Add(len(fs))
	for _, f := range fs {
		c.work <- f
	}
	c.done.Wait()
}

func newCrew(n int) *crew {
	c := &crew{work: make(chan func())}
	for range n {
		go func() {
			for f := range c.work {
				for range rand.IntN(4) {
					runtime.Gosched()
				}
				f()
				c.done.Done()
			}
		}()
	}
	return c
}

// Law: of whatever happens to a resource at the same time, exactly one becomes its
// owner, and no two use it.
func TestEachResourceHasExactlyOneOwnerInARace(t *testing.T) {
	const rounds = 100_000 / 5
	crew := newCrew(5)
	defer close(crew.work)
	for name, play := range map[string]func(w *world, id handle.ID, l lease) []func(){
		"release, leave, retire": func(w *world, id handle.ID, l lease) []func() {
			ctx, cancel := context.WithCancel(t.Context())
			return []func(){func() { w.release(l) }, func() { w.visit(ctx, id) }, cancel, func() { w.retire(id) }}
		},
		"release, wait, retire twice": func(w *world, id handle.ID, l lease) []func() {
			return []func(){func() { w.release(l) }, func() { w.visit(t.Context(), id) }, func() { w.retire(id) }, func() { w.retire(id) }}
		},
		"release, retire, close": func(w *world, id handle.ID, l lease) []func() {
			return []func(){func() { w.release(l) }, func() { w.retire(id) }, func() { w.close() }}
		},
		"release, leave, close": func(w *world, id handle.ID, l lease) []func() {
			ctx, cancel := context.WithCancel(t.Context())
			return []func(){func() { w.release(l) }, func() { w.visit(ctx, id) }, cancel, func() { w.close() }}
		},
		"release, two leave, close": func(w *world, id handle.ID, l lease) []func() {
			ctx, cancel := context.WithCancel(t.Context())
			return []func(){func() { w.release(l) }, func() { w.visit(ctx, id) }, func() { w.visit(ctx, id) }, cancel, func() { w.close() }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range rounds {
				w := newWorld(t, 64)
				id := w.insert()
				crew.together(play(w, id, w.hold(id)))
				if w.end(); t.Failed() {
					return
				}
			}
		})
	}
}

// visit waits for a resource and gives it back.
func (w *world) visit(ctx context.Context, id handle.ID) {
	l, err := w.acquire(ctx, id, lanegate.Request{})
	switch {
	case err == nil:
		w.release(l)
	case errors.Is(err, context.Canceled), errors.Is(err, ioerr.ErrHandleNotFound), errors.Is(err, ioerr.ErrShutdown):
	default:
		w.t.Errorf("visit: %v", err)
	}
}

// Law: at most one holder, however many try, in whatever way.
func TestAtMostOneHolder(t *testing.T) {
	for name, patience := range patiences {
		w := &world{Registry: registry.New[*thing](4, patience), t: t}
		ids := []handle.ID{w.insert(), w.insert()}
		race(8, func(i int) {
			for k := range 2000 {
				id := ids[rand.IntN(len(ids))]
				ctx, cancel := context.WithCancel(t.Context())
				switch (i + k) % 5 {
				case 0:
					if l, ok := w.Try(id); ok {
						w.begin(l)
						w.release(l)
					}
				case 1:
					go cancel()
					fallthrough
				default:
					l, err := w.acquire(ctx, id, lanegate.Request{NoWait: k%7 == 0, FailFast: k%11 == 0})
					if err == nil {
						w.release(l)
					}
				}
				cancel()
			}
		})
		if w.end(); t.Failed() {
			t.Fatalf("patience %s", name)
		}
	}
}
