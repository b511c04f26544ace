package registry_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// patiences are the ways to treat a line: in order at all times, after a while, at
// once.
var patiences = map[string]time.Duration{"strict": strict, "1ms": time.Millisecond, "1h": time.Hour, "0": 0}

func (w *world) refuses(ctx context.Context, what string, l lease, q lanegate.Request, want error) {
	w.t.Helper()
	if _, err := w.acquire(ctx, l.ID, q); !errors.Is(err, want) {
		w.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestWaitersAreServedInOrder(t *testing.T) {
	for name, patience := range patiences {
		synctest.Test(t, func(t *testing.T) {
			w := &world{Registry: registry.New[*thing](64, patience), t: t}
			id := w.insert()
			l := w.hold(id)
			var served, want []int
			for i := range 64 {
				want = append(want, i)
				go func() {
					l, err := w.acquire(t.Context(), id, lanegate.Request{})
					if err != nil {
						t.Errorf("%s: waiter %d: %v", name, i, err)
						return
					}
					served = append(served, i)
					w.release(l)
				}()
				synctest.Wait()
			}
			w.release(l)
			synctest.Wait()
			if !slices.Equal(served, want) {
				t.Errorf("%s: served %v", name, served)
			}
			w.end()
		})
	}
}

// I-21: while there are waiters a newcomer queues up behind them, also if the
// lease has just been given back.
func TestNobodyOvertakesAStrictLine(t *testing.T) {
	runs := explore(t, func(t *testing.T) ([]script, func()) {
		w := newWorld(t, 64)
		id := w.insert()
		l := w.hold(id)
		var served []string
		waiter := func(name string) func() {
			return func() {
				l, err := w.acquire(context.Background(), id, lanegate.Request{})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				served = append(served, name)
				w.release(l)
			}
		}
		go waiter("first")()
		synctest.Wait()
		return []script{
				{{"release", func() { w.release(l) }}},
				{{"second", func() { go waiter("second")() }}, {"third", func() { go waiter("third")() }}},
			}, func() {
				if len(served) != 3 || served[0] != "first" {
					t.Errorf("served %v", served)
				}
				w.end()
			}
	})
	t.Logf("%d runs", runs)
}

// I-28: limit L takes L waiters, and the next is refused at once.
func TestTheBoundOfWaitersIsExact(t *testing.T) {
	for _, limit := range []int{0, 1, 4, 64} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, limit)
			id := w.insert()
			l := w.hold(id)
			ctx, cancel := context.WithCancel(t.Context())
			var cancelled atomic.Int32
			for range limit {
				go func() {
					if _, err := w.acquire(ctx, id, lanegate.Request{}); errors.Is(err, context.Canceled) {
						cancelled.Add(1)
					}
				}()
			}
			synctest.Wait()
			for range 3 {
				w.refuses(t.Context(), "one too many", l, lanegate.Request{}, ioerr.ErrWaitersFull)
			}
			w.refuses(cancelledContext(t), "one too many, and cancelled", l, lanegate.Request{}, ioerr.ErrWaitersFull)
			w.refuses(t.Context(), "who does not wait", l, lanegate.Request{NoWait: true}, ioerr.ErrReentry)
			w.refuses(t.Context(), "who fails fast", l, lanegate.Request{FailFast: true}, ioerr.ErrHandleBusy)
			cancel()
			synctest.Wait()
			if n := int(cancelled.Load()); n != limit {
				t.Errorf("limit %d: %d waiters were cancelled", limit, n)
			}
			w.release(l)
			w.end()
		})
	}
}

func cancelledContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// B05, I-29: who leaves does so while the holder holds on, whatever its place, and
// makes room for another.
func TestAWaiterThatLeavesGoesAtOnceAndFreesItsPlace(t *testing.T) {
	const limit = 4
	for _, why := range []error{context.Canceled, context.DeadlineExceeded, ioerr.ErrAcceptTimeout} {
		for leaver := range limit {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, limit)
				id := w.insert()
				l := w.hold(id)
				errs := make([]error, limit+1)
				var served []int
				var cancel context.CancelFunc
				enter := func(i int, ctx context.Context, q lanegate.Request) {
					go func() {
						var l lease
						if l, errs[i] = w.acquire(ctx, id, q); errs[i] == nil {
							served = append(served, i)
							w.release(l)
						}
					}()
					synctest.Wait()
				}
				for i := range limit {
					ctx, q := t.Context(), lanegate.Request{}
					if i == leaver {
						ctx, cancel = leaving(ctx, why, &q)
						defer cancel()
					}
					enter(i, ctx, q)
				}
				if why == context.Canceled {
					cancel()
				} else {
					time.Sleep(time.Second)
				}
				synctest.Wait()
				if !errors.Is(errs[leaver], why) {
					t.Errorf("waiter %d left with %v, want %v", leaver, errs[leaver], why)
				}
				enter(limit, t.Context(), lanegate.Request{})
				w.refuses(t.Context(), "the place is taken again", l, lanegate.Request{}, ioerr.ErrWaitersFull)
				w.release(l)
				synctest.Wait()
				want := slices.DeleteFunc([]int{0, 1, 2, 3, 4}, func(i int) bool { return i == leaver })
				if !slices.Equal(served, want) {
					t.Errorf("without %d served %v", leaver, served)
				}
				w.end()
			})
		}
	}
}

// leaving is a way to leave a line after a second, or when cancelled.
func leaving(ctx context.Context, why error, q *lanegate.Request) (context.Context, context.CancelFunc) {
	switch why {
	case ioerr.ErrAcceptTimeout:
		q.Expire = time.Now().Add(time.Second)
	case context.DeadlineExceeded:
		return context.WithTimeout(ctx, time.Second)
	}
	return context.WithCancel(ctx)
}

// I-05: the context is looked at by those who wait; a free resource is lent.
func TestAFreeResourceIsLentWithoutALookAtTheContext(t *testing.T) {
	w := newWorld(t, 64)
	id := w.insert()
	for _, q := range []lanegate.Request{{}, {NoWait: true}, {FailFast: true}, {Expire: time.Unix(0, 0)}} {
		l, err := w.acquire(cancelledContext(t), id, q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		w.release(l)
	}
	if l, ok := w.Try(id); !ok {
		t.Error("Try did not lend it")
	} else if _, ok := w.Try(id); ok {
		t.Error("Try lent it twice")
	} else {
		l.Release()
	}
	w.end()
}

func TestHeldTellsWhetherSomebodyHoldsTheLease(t *testing.T) {
	w := newWorld(t, 64)
	e, err := w.Insert(w.thing())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e.Held() {
			t.Error("held by nobody")
		}
		l := w.hold(e.ID)
		if !e.Held() || l.Entry != e {
			t.Error("not held")
		}
		if got, err := w.Held(e.ID); got != e || err != nil {
			t.Errorf("Held = %v, %v, want the entry", got, err)
		}
		w.release(l)
	}
	l := w.hold(e.ID)
	w.retire(e.ID)
	if !e.Held() {
		t.Error("not held when retired")
	}
	if got, err := w.Held(e.ID); got != nil || !errors.Is(err, ioerr.ErrHandleNotFound) {
		t.Errorf("Held = %v, %v after the retirement", got, err)
	}
	w.release(l)
	w.end()
}
