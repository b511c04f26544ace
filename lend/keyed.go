package lend

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"sync"
	"weak"

	"github.com/iolane/iolane/pool"
)

// Keyed is a [Lender] for each key, with a capacity of its own: a lender of connections for
// each host, say. One that has no resources, and that nobody holds, is forgotten by the next
// garbage collection, with its Stats: so keys may come and go. [Keyed.All] may yield it until then.
type Keyed[K comparable, R any] struct {
	base    *Lender[R] // what all have in common
	open    func(context.Context, K) (R, error)
	unwatch func() bool

	mu      sync.Mutex // a leaf
	closed  bool
	lenders map[K]*entry[R]
}

// entry is a lender that is kept while it has resources, or somebody else keeps it.
type entry[R any] struct {
	weak weak.Pointer[Lender[R]]
	kept *Lender[R]
}

// ByKey makes lenders by key. Config is that of each, but that open, which is told the key,
// takes the place of Config.Open, and MinIdle must be zero: nothing is opened for a key
// that nobody asks for. Errors are as for [New].
func ByKey[K comparable, R any](p *pool.Pool[R], open func(ctx context.Context, key K) (R, error), config Config[R]) (*Keyed[K, R], error) {
	switch {
	case open == nil:
		return nil, bad("open", nil, "must not be nil")
	case config.Open != nil:
		return nil, bad("lend.Config.Open", "a function", "must be nil, since there is open")
	case config.MinIdle != 0:
		return nil, bad("lend.Config.MinIdle", config.MinIdle, "must be zero where there are keys")
	}
	config.Open = func(context.Context) (r R, err error) { return r, errors.ErrUnsupported } // of no key
	base, err := newLender(p, config)
	if err != nil {
		return nil, err
	}
	k := &Keyed[K, R]{base: base, open: open, lenders: map[K]*entry[R]{}}
	if k.unwatch = context.AfterFunc(p.Draining(), k.shut); p.Draining().Err() != nil {
		return nil, &base.refusals().shutdown
	}
	return k, nil
}

// For returns the lender of a key. The error is ErrShutdown, or an *ioerr.ArgumentError if k
// was not made by ByKey, or the key is not equal to itself (NaN) and so would never be found
// again.
func (k *Keyed[K, R]) For(key K) (*Lender[R], error) {
	if k == nil || k.base == nil {
		return nil, bad("k", "lend.Keyed", "was not made by lend.ByKey")
	}
	if key != key { //nolint:gocritic // as said
		return nil, bad("key", key, "must be equal to itself")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, &k.base.refusals().shutdown
	}
	if e := k.lenders[key]; e != nil {
		if l := e.weak.Value(); l != nil {
			return l, nil
		}
	}
	prefix := k.base.config.Name
	if prefix != "" {
		prefix += " "
	}
	l := k.base.another(func() string { return prefix + fmt.Sprint(key) })
	l.config.Open = func(ctx context.Context) (R, error) { return k.open(ctx, key) }
	e := &entry[R]{weak: weak.Make(l)}
	l.held = func(some bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if e.kept = nil; some {
			e.kept = l
		}
	}
	k.lenders[key] = e
	runtime.AddCleanup(l, func(e *entry[R]) { k.forget(key, e) }, e)
	return l, nil
}

// forget is run when nobody holds a lender any more.
func (k *Keyed[K, R]) forget(key K, e *entry[R]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lenders[key] == e { // else there is a new one
		delete(k.lenders, key)
	}
}

// All yields the lenders that have resources, or that somebody holds, by key.
func (k *Keyed[K, R]) All() iter.Seq2[K, *Lender[R]] {
	all := map[K]*Lender[R]{}
	if k != nil && k.base != nil {
		k.mu.Lock()
		for key, e := range k.lenders {
			if l := e.weak.Value(); l != nil {
				all[key] = l
			}
		}
		k.mu.Unlock()
	}
	return maps.All(all)
}

// Shutdown is [Lender.Shutdown] of all of them. Nothing is lent for any key from then on.
func (k *Keyed[K, R]) Shutdown(ctx context.Context) error {
	if k == nil || k.base == nil {
		return bad("k", "lend.Keyed", "was not made by lend.ByKey")
	}
	if err := k.base.Shutdown(ctx); err != nil { // has nothing to wait for, and checks ctx
		return err
	}
	k.unwatch()
	k.shut()
	for _, l := range k.All() {
		if err := l.Shutdown(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close is Shutdown without a bound.
func (k *Keyed[K, R]) Close() error { return k.Shutdown(context.Background()) }

// shut refuses newcomers and closes what is idle.
func (k *Keyed[K, R]) shut() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	for _, l := range k.All() {
		l.shut()
	}
}
