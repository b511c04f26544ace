package pool

import (
	"context"
	"errors"
	"sync"

	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// bin holds the resources that are to be disposed of, and sees to it. They are
// taken out in order by a few goroutines, started when there is work and gone
// when there is none, each of which enters the lane for every resource.
//
// A hook that does not return in time loses its place among the goroutines, so it holds
// up nobody.
type bin[R any] struct {
	core *core
	reg  *registry.Registry[resource[R]]
	hook func(R) error // nil: nothing to do

	mu       sync.Mutex // a leaf
	waste    []waste[R] // oldest first
	workers  int        // goroutines, without those whose hook hangs
	empty    signal.Crowd
	disposed uint64             // resources disposed of, well or badly
	badly    uint64             // of these, badly
	failed   uint64             // hooks of any kind
	errors   []*ioerr.HookError // the first maxErrors failures
}

// waste is a retired resource that the bin has inherited.
type waste[R any] = *registry.Entry[resource[R]]

const (
	maxDisposers = 8  // at a time; each takes a slot of the lane like any call
	maxErrors    = 64 // failures kept for the report
)

// discard disposes of a retired resource that the caller has inherited.
func (b *bin[R]) discard(w waste[R]) {
	if b.hook == nil {
		b.finish(w, nil)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waste = append(b.waste, w)
	b.staff()
}

// staff starts a goroutine if there is work: those there are may be held up by a
// hook. mu is held.
func (b *bin[R]) staff() {
	if b.workers < maxDisposers && len(b.waste) > 0 {
		b.workers++
		go b.work()
	}
}

// next takes a resource out of the bin, or ends a goroutine.
func (b *bin[R]) next() (w waste[R], ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waste) > 0 {
		w = b.waste[0]
		b.waste[0] = nil
		b.waste = b.waste[1:]
		return w, true
	}
	if b.workers--; b.workers == 0 {
		b.waste = nil
		b.empty.WakeAll()
	}
	return w, false
}

func (b *bin[R]) work() {
	counted := true // this goroutine is one of workers
	defer func() {
		if counted {
			go b.work() // the hook ended the goroutine
		}
	}()
	for counted {
		w, ok := b.next()
		if !ok {
			counted = false
			return
		}
		b.dispose(w, &counted)
	}
}

// dispose calls the hook.
func (b *bin[R]) dispose(w waste[R], counted *bool) {
	b.core.hooks.perform("dispose", w.ID, func() error { return b.hook(w.Resource.value) }, func(err error, hangs bool) {
		b.finish(w, err)
		if hangs {
			b.replaceWorker()
		}
	}, func() { *counted = false })
}

// replaceWorker strikes a goroutine whose hook hangs off the list.
func (b *bin[R]) replaceWorker() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers--
	b.staff()
	if b.workers == 0 {
		b.empty.WakeAll()
	}
}

// finish notes that a resource is disposed of, or that the pool has given up on
// it.
func (b *bin[R]) finish(w waste[R], err error) {
	b.mu.Lock()
	b.disposed++
	if err != nil {
		b.badly++
	}
	b.note(err)
	b.mu.Unlock()
	b.reg.Disposed(w, err)
}

// note keeps what went wrong. mu is held.
func (b *bin[R]) note(err error) {
	if err == nil {
		return
	}
	b.failed++
	if herr, ok := errors.AsType[*ioerr.HookError](err); ok && len(b.errors) < maxErrors {
		b.errors = append(b.errors, herr)
	}
}

// hookFailed notes the failure of a hook of another kind.
func (b *bin[R]) hookFailed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(err)
}

// allWell reports whether no hook has failed.
func (b *bin[R]) allWell() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed == 0
}

// wait waits until the bin is empty and nobody works, but not for hooks that
// hang. It reports false if ctx ended first.
func (b *bin[R]) wait(ctx context.Context) bool {
	b.mu.Lock()
	if b.workers == 0 { // then there is no waste either: discard starts a goroutine
		b.mu.Unlock()
		return true
	}
	return b.empty.Wait(ctx, &b.mu)
}
