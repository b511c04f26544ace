package linearize

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// record is a registry with a history of what was done to it.
type record struct {
	reg   *registry.Registry[int] // the resource is its number
	clock atomic.Int64

	mu      sync.Mutex
	handles []handle.ID
	history []porcupine.Operation
}

// client is one goroutine. It holds one lease at most and waits for none while it
// does, so nobody waits for ever.
type client struct {
	*record
	number  int
	rand    *rand.Rand
	lease   registry.Lease[int] // none if the entry is nil
	handle  int                 // of the lease
	history []porcupine.Operation
}

// note adds a call that began at the given time and has just been answered.
func (c *client) note(began int64, k kind, h int, a answer) {
	c.history = append(c.history, porcupine.Operation{
		ClientId: c.number, Input: call{c.number, h, k}, Call: began, Output: a, Return: c.clock.Add(1),
	})
}

// run makes so many calls, and gives back what it holds.
func (c *client) run(calls int) {
	for range calls {
		if c.rand.IntN(4) == 0 {
			runtime.Gosched()
		}
		c.act()
	}
	if c.lease.Entry != nil {
		c.release()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record.history = append(c.record.history, c.history...)
}

func (c *client) act() {
	h, id := c.choose()
	n := c.rand.IntN(20)
	switch {
	case h < 0 || n == 0:
		c.insert()
	case n == 1:
		c.retire(h, id)
	case n < 5:
		c.has(h, id)
	case c.lease.Entry == nil:
		c.acquire(h, id, n%2 == 0)
	case n < 9:
		c.try(h, id)
	default:
		c.release()
	}
}

// choose picks one of the newest handles.
func (c *client) choose() (int, handle.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.handles)
	if n == 0 {
		return -1, handle.ID{}
	}
	h := n - 1 - c.rand.IntN(min(n, 3))
	return h, c.handles[h]
}

func (c *client) insert() {
	began := c.clock.Add(1)
	e, err := c.reg.Insert(0)
	if err != nil {
		return
	}
	c.mu.Lock()
	h := len(c.handles)
	c.handles = append(c.handles, e.ID)
	c.mu.Unlock()
	c.note(began, insert, h, yes)
}

func (c *client) acquire(h int, id handle.ID, waits bool) {
	began := c.clock.Add(1)
	l, err := c.reg.Acquire(context.Background(), id, &lanegate.Request{NoWait: !waits})
	k := acquire
	if waits {
		k = leave
		c.note(began, enter, h, yes)
	}
	switch {
	case err == nil:
		c.note(began, k, h, yes)
		c.lease, c.handle = l, h
	case errors.Is(err, ioerr.ErrReentry):
		c.note(began, k, h, busy)
	case errors.Is(err, ioerr.ErrShutdown):
		c.note(began, k, h, shutdown)
	case errors.Is(err, ioerr.ErrHandleNotFound):
		c.note(began, k, h, notFound)
	default:
		panic(err)
	}
}

// try is an acquire that says nothing when it fails. The lease is given back at
// once.
func (c *client) try(h int, id handle.ID) {
	began := c.clock.Add(1)
	l, ok := c.reg.Try(id)
	if !ok {
		return
	}
	c.note(began, acquire, h, yes)
	c.giveBack(l, h)
}

func (c *client) release() {
	l := c.lease
	c.lease = registry.Lease[int]{}
	c.giveBack(l, c.handle)
}

func (c *client) giveBack(l registry.Lease[int], h int) {
	began := c.clock.Add(1)
	gone := l.Release()
	c.note(began, release, h, one(gone, orphan, yes))
	if gone {
		c.reg.Disposed(l.Entry, nil)
	}
}

func (c *client) retire(h int, id handle.ID) {
	began := c.clock.Add(1)
	e, gone := c.reg.Retire(id)
	c.note(began, retire, h, one(gone, orphan, one(e != nil, yes, no)))
	if gone {
		c.reg.Disposed(e, nil)
	}
}

func (c *client) has(h int, id handle.ID) {
	began := c.clock.Add(1)
	found := c.reg.Has(id)
	c.note(began, has, h, one(found, yes, no))
}

func one(first bool, a, b answer) answer {
	if first {
		return a
	}
	return b
}
