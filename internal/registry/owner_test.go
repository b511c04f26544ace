package registry_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/ioerr"
)

// cast is the parts that actors can play around one resource.
type cast struct {
	*world
	id      handle.ID
	retired atomic.Bool  // or about to be
	closed  atomic.Bool  // or about to be
	waiting atomic.Int32 // waiters without an answer
}

// holder uses the resource, which it holds from the beginning.
func (c *cast) holder() script {
	l := c.hold(c.id)
	return script{{"release", func() { c.release(l) }}}
}

// waiter waits for the resource, uses it and gives it back at once; it may be
// sent away in between.
func (c *cast) waiter(mayLeave bool) script {
	ctx, cancel := context.WithCancel(context.Background())
	s := script{{"acquire", func() {
		c.waiting.Add(1)
		late := c.closed.Load()
		go func() {
			defer cancel()
			l, err := c.acquire(ctx, c.id, lanegate.Request{})
			c.waiting.Add(-1)
			switch {
			case err == nil && !late:
				c.release(l)
			case errors.Is(err, ioerr.ErrShutdown) && c.closed.Load():
			case errors.Is(err, ioerr.ErrHandleNotFound) && c.retired.Load() && !late:
			case errors.Is(err, context.Canceled) && mayLeave && !late:
			default:
				c.t.Errorf("waiter: %v; retired %t, closed %t, then already: %t", err, c.retired.Load(), c.closed.Load(), late)
			}
		}()
	}}}
	if mayLeave {
		s = append(s, step{"cancel", cancel})
	}
	return s
}

func (c *cast) retirer() script {
	return script{{"retire", func() {
		gone := c.retired.Swap(true) || c.closed.Load()
		if e, _ := c.retire(c.id); (e == nil) != gone {
			c.t.Errorf("retired %v, already gone: %t", e, gone)
		}
	}}}
}

func (c *cast) closer() script {
	return script{{"close", func() {
		c.closed.Store(true)
		c.close()
	}}}
}

// end is the end of a model: nothing is left, and nobody waits.
func (c *cast) end() {
	c.t.Helper()
	c.world.end()
	if n := c.waiting.Load(); n != 0 {
		c.t.Errorf("%d waiters have got no answer", n)
	}
}

// Law: in every order of what can happen to a resource it has exactly one owner
// at the end, and until then no two users; every waiter gets one answer, the right
// one; and nothing is left in the registry. I-42, I-43, I-46, I-51, I-52.
func TestEachResourceHasExactlyOneOwnerInEveryOrder(t *testing.T) {
	for name, play := range map[string]func(*cast) []script{
		"release, cancel and retire": func(c *cast) []script {
			return []script{c.holder(), c.waiter(true), c.retirer()}
		},
		"release, cancel and close": func(c *cast) []script {
			return []script{c.holder(), c.waiter(true), c.closer()}
		},
		"release, two waiters and retire": func(c *cast) []script {
			return []script{c.holder(), c.waiter(true), c.waiter(false), c.retirer()}
		},
		"release, two waiters and close": func(c *cast) []script {
			return []script{c.holder(), c.waiter(true), c.waiter(false), c.closer()}
		},
		"release, cancel, retire and close": func(c *cast) []script {
			return []script{c.holder(), c.waiter(true), c.retirer(), c.closer()}
		},
		"release, retire twice and close": func(c *cast) []script {
			return []script{c.holder(), c.retirer(), c.retirer(), c.closer()}
		},
		"idle, retire twice and close": func(c *cast) []script {
			return []script{c.waiter(true), c.retirer(), c.retirer(), c.closer()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs := explore(t, func(t *testing.T) ([]script, func()) {
				c := &cast{world: newWorld(t, 64)}
				c.id = c.insert()
				return play(c), c.end
			})
			t.Logf("%d runs", runs)
		})
	}
}

// The same for an entry that is being opened: whoever commits hears whether the
// resource is still wanted, and one that was never there belongs to nobody. The
// ID is not known before that, but it can be guessed. I-35 to I-38.
func TestAnOpeningEndsInOneOwnerOrNoneInEveryOrder(t *testing.T) {
	for _, opens := range []bool{true, false} {
		for name, others := range map[string]func(*cast) []script{
			"retire and close":  func(c *cast) []script { return []script{c.retirer(), c.closer()} },
			"cancel and retire": func(c *cast) []script { return []script{c.waiter(true), c.retirer()} },
			"cancel and close":  func(c *cast) []script { return []script{c.waiter(true), c.closer()} },
		} {
			end := map[bool]string{true: "commit", false: "abort"}[opens]
			t.Run(end+", "+name, func(t *testing.T) {
				runs := explore(t, func(t *testing.T) ([]script, func()) {
					c := &cast{world: newWorld(t, 64)}
					l, err := c.Reserve()
					if err != nil {
						t.Fatal(err)
					}
					c.id = l.ID
					return append(others(c), script{{end, func() { c.finish(l, opens) }}}), c.end
				})
				t.Logf("%d runs", runs)
			})
		}
	}
}

// finish ends an opening.
func (c *cast) finish(l lease, opens bool) {
	gone := c.retired.Load() || c.closed.Load()
	if c.Has(c.id) {
		c.t.Error("there is a resource before the commit")
	}
	if !opens {
		c.retired.Store(true)
		c.Abort(l)
	} else if orphan := c.commit(l); orphan != gone {
		c.t.Errorf("orphan: %t, gone before the commit: %t", orphan, gone)
	}
	if want := opens && !gone; c.Has(c.id) != want {
		c.t.Errorf("Has = %t after the end of the opening, want %t", !want, want)
	}
}
