package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func TestDestroyDisposesOfAnIdleResourceOnce(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		succeeds(t, p.Destroy(bg, id))
		shop.allBack()
		if p.Has(id) {
			t.Error("the ID still names something")
		}
		is(t, p.With(bg, id, leave), ioerr.ErrHandleNotFound)
		succeeds(t, p.Destroy(bg, id))
		closes(t, p)
		succeeds(t, p.Destroy(bg, id))
		shop.allBack()
	})
}

// Law: Destroy takes effect at once for newcomers and waiters, and not at all for
// the call that is using the resource.
func TestDestroyLeavesTheRunningTransactionUndisturbed(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		busy := newGate()
		holder := start(func() error { return p.With(bg, id, with(busy.pass)) })
		busy.await(t, 1)
		waiter := start(func() error { return p.With(bg, id, leave) })
		waits(t, waiter)
		gone := start(func() error { return p.Destroy(bg, id) })
		w := refusal(ioerr.Handle, ioerr.ErrHandleNotFound)
		w.id, w.lane = id, laneName
		w.check(t, ended(t, waiter))
		w.check(t, p.With(bg, id, leave))
		if p.Has(id) {
			t.Error("the ID still names something")
		}
		waits(t, gone)
		waits(t, holder)
		busy.open()
		succeeds(t, ended(t, holder))
		succeeds(t, ended(t, gone))
		shop.allBack()
		closes(t, p)
	})
}

func TestDestroyReturnsWhatDisposeReturned(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		broken := errors.New("broken")
		shop.fails = func(*thing) error { return broken }
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		err := p.Destroy(bg, id)
		w := leaf(broken)
		w.id, w.lane = id, laneName
		w.check(t, err)
		hook, ok := errors.AsType[*ioerr.HookError](err)
		if !ok || hook.Hook != "dispose" || hook.Handle != id || hook.Err != broken {
			t.Errorf("hook error %+v", hook)
		}
		if err := p.Close(); !errors.Is(err, broken) {
			t.Errorf("Close: %v, want the failure of the hook", err)
		}
	})
}

// Law: ctx bounds the waiting only, and what has happened is what is reported.
func TestDestroyWithADeadContext(t *testing.T) {
	dead, cancel := context.WithCancel(bg)
	cancel()
	t.Run("of what is gone at once succeeds, always", func(t *testing.T) {
		everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
			p := on(g, pool.Config[int]{})
			for range 100 {
				id := adopt(t, p, 1)
				if err := p.Destroy(dead, id); err != nil {
					t.Fatalf("%v, but there was nothing to wait for", err)
				}
			}
			closes(t, p)
		})
	})
	t.Run("of what is in use leaves it to be disposed of", func(t *testing.T) {
		everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
			shop := newShop(t)
			p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
			id := adopt(t, p, shop.make())
			busy := newGate()
			holder := start(func() error { return p.With(bg, id, with(busy.pass)) })
			busy.await(t, 1)
			want{ioerr.Cancelled, ioerr.Executor, ioerr.Unknown, context.Canceled, id, "", laneName}.check(t, p.Destroy(dead, id))
			late, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			succeeds(t, p.Destroy(late, id)) // an ID that names nothing any more
			busy.open()
			succeeds(t, ended(t, holder))
			shop.allBack()
			closes(t, p)
		})
	})
}

func TestDestroyStopsWaitingAtItsDeadline(t *testing.T) {
	everywhere(t, need{}, lane.Config{Workers: 2}, func(t *testing.T, g *ground) {
		shop := newShop(t)
		p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
		id := adopt(t, p, shop.make())
		busy := newGate()
		spawn(t, func() error { return p.With(bg, id, with(busy.pass)) })
		busy.await(t, 1)
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		began := time.Now()
		want{ioerr.TimedOut, ioerr.Executor, ioerr.Unknown, context.DeadlineExceeded, id, "", laneName}.check(t, p.Destroy(ctx, id))
		if d := time.Since(began); d != time.Second {
			t.Errorf("waited %v, want a second", d)
		}
		busy.open()
		closes(t, p)
		shop.allBack()
	})
}

// Law: a call that destroys something does not wait for a slot that it may hold
// itself, nor for a holder that may wait for the caller's.
func TestDestroyFromInsideACallDoesNotWait(t *testing.T) {
	contexts := map[string]func(inner context.Context) context.Context{
		"with its context": func(ctx context.Context) context.Context { return ctx },
		"without it":       func(context.Context) context.Context { return bg },
	}
	for name, from := range contexts {
		t.Run(name, func(t *testing.T) {
			everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
				shop := newShop(t)
				p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
				mine := adopt(t, p, shop.make())
				idle := adopt(t, p, shop.make())
				call := start(func() error {
					return p.With(bg, mine, with(func(ctx context.Context) error {
						return errors.Join(p.Destroy(from(ctx), mine), p.Destroy(from(ctx), idle))
					}))
				})
				succeeds(t, ended(t, call))
				shop.allBack()
				closes(t, p)
			})
		})
	}
	t.Run("from two calls that destroy each other's", func(t *testing.T) {
		everywhere(t, need{}, lane.Config{Workers: 4}, func(t *testing.T, g *ground) {
			shop := newShop(t)
			p := on(g, pool.Config[*thing]{Dispose: shop.dispose})
			a := adopt(t, p, shop.make())
			b := adopt(t, p, shop.make())
			busy := newGate()
			cross := func(mine, other handle.ID) <-chan error {
				return start(func() error {
					return p.With(bg, mine, with(func(ctx context.Context) error {
						busy.stay()
						return p.Destroy(ctx, other)
					}))
				})
			}
			first, second := cross(a, b), cross(b, a)
			busy.await(t, 2)
			busy.open()
			succeeds(t, ended(t, first))
			succeeds(t, ended(t, second))
			shop.allBack()
			closes(t, p)
		})
	})
	t.Run("of another lane's resource waits as always", func(t *testing.T) {
		everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
			shop := newShop(t)
			broken := errors.New("broken")
			shop.fails = func(*thing) error { return broken }
			p := on(g, pool.Config[int]{})
			other := makePool(t, pool.Config[*thing]{Dispose: shop.dispose})
			id := adopt(t, other, shop.make())
			is(t, p.Do(bg, func(ctx context.Context) error { return other.Destroy(ctx, id) }), broken)
			closes(t, p)
			if err := other.Close(); !errors.Is(err, broken) {
				t.Error(err)
			}
		})
	})
}

func TestDestroyKnowsItsOwnIDs(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p, other := on(g, pool.Config[int]{}), makePool(t, pool.Config[int]{})
		id := adopt(t, p, 1)
		foreign := adopt(t, other, 1)
		w := refusal(ioerr.Handle, ioerr.ErrScopeMismatch)
		w.id, w.lane = foreign, laneName
		w.check(t, p.Destroy(bg, foreign))
		is(t, p.Destroy(bg, handle.ID{}), ioerr.ErrHandleNotFound)
		succeeds(t, p.Destroy(bg, p.IDFromUint64(id.Uint64()+1))) // stale, or not yet
		succeeds(t, p.Destroy(bg, p.IDFromUint64(1<<63)))
		if !p.Has(id) || !other.Has(foreign) {
			t.Error("the wrong one was destroyed")
		}
		closes(t, p)
		w.check(t, p.Destroy(bg, foreign)) // in any state
		closes(t, other)
	})
}

// Law: what was destroyed is never found again under its ID, however often the
// place in the table is used anew.
func TestDestroyedIDsNeverComeBack(t *testing.T) {
	everywhere(t, need{}, lane.Config{}, func(t *testing.T, g *ground) {
		p := on(g, pool.Config[int]{})
		seen := make(map[handle.ID]bool)
		for i := range 100 {
			id, err := p.Adopt(i)
			succeeds(t, err)
			if seen[id] {
				t.Fatalf("%v was given out twice", id)
			}
			seen[id] = true
			for old := range seen {
				if p.Has(old) != (old == id) {
					t.Fatalf("Has(%v) is %v", old, p.Has(old))
				}
			}
			succeeds(t, p.Destroy(bg, id))
		}
		closes(t, p)
	})
}

// Law: a handle that is granted to a waiter in the moment when the waiter leaves
// and the handle is destroyed is disposed of all the same, by whoever comes last.
func TestDestroyOfAHandleGrantedToOneWhoHasLeft(t *testing.T) {
	for range rounds(500, 50_000) {
		shop := newShop(t)
		p := makePool(t, pool.Config[*thing]{Dispose: shop.dispose, Waiters: 1, Patience: lane.Strict, Threads: lane.Config{Workers: 2}})
		id := adopt(t, p, shop.make())
		ctx, cancel := context.WithCancel(bg)
		var waiter <-chan error
		succeeds(t, p.With(bg, id, with(func(context.Context) error {
			waiter = start(func() error { return p.With(ctx, id, with(nothing)) })
			for !errors.Is(p.With(bg, id, leave, pool.AcceptWithin(-1)), ioerr.ErrWaitersFull) {
				runtime.Gosched()
			}
			return nil
		})))
		cancel() // the waiter has the handle by now, and does not know it yet
		succeeds(t, p.Destroy(bg, id))
		if err := <-waiter; err != nil && !errors.Is(err, context.Canceled) {
			is(t, err, ioerr.ErrHandleNotFound)
		}
		closes(t, p)
		shop.allBack()
	}
}
