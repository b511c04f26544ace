package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// simulation does the same to a registry and to its spec. Between two operations
// everybody has come to rest.
type simulation struct {
	t     *testing.T
	reg   *registry.Registry[int]
	spec  spec
	trace []string

	callers  []*caller
	openings []*caller
	leases   []*caller
	orphans  []*registry.Entry[int]
	watchers []*watcher
}

// caller is one call of Acquire or Reserve. Its number is its place in the list.
type caller struct {
	number int
	cancel context.CancelFunc
	done   bool
	lease  registry.Lease[int]
	err    error
	seen   bool
}

// watcher is one call of WaitEmpty.
type watcher struct {
	cancel context.CancelFunc
	done   bool
	empty  bool
}

// simulate takes two bytes for the kind of registry and then two for each
// operation: which, and on what. What is longer than a reader would follow is cut.
func simulate(t *testing.T, script []byte) {
	if len(script) < 2 {
		return
	}
	script = script[:min(len(script), 1000)]
	synctest.Test(t, func(t *testing.T) {
		limit := []int{0, 1, 2, 5}[script[0]%4]
		patience := []time.Duration{strict, 0, time.Millisecond, time.Hour}[script[1]%4]
		s := &simulation{t: t, reg: registry.New[int](limit, patience)}
		s.spec = spec{waiters: limit, answers: map[int]error{}}
		s.callers = []*caller{{done: true, seen: true}} // nobody
		s.note("limit %d, patience %v", limit, patience)
		for ops := script[2:]; len(ops) >= 2 && !t.Failed(); ops = ops[2:] {
			s.do(ops[0], int(ops[1]))
			synctest.Wait()
			s.compare()
		}
		s.end()
		if t.Failed() {
			t.Log(strings.Join(s.trace, "; "))
		}
	})
}

func (s *simulation) note(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, args...))
}

// pick is the n-th of a list, counted round; false if it is empty.
func pick[T any](list []T, n int) (x T, ok bool) {
	if len(list) == 0 {
		return x, false
	}
	return list[n%len(list)], true
}

func without[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(list, func(y T) bool { return x == y })
}

func (s *simulation) newCaller() *caller {
	c := &caller{number: len(s.callers), cancel: func() {}}
	s.callers = append(s.callers, c)
	return c
}

// id is that of some entry, gone or not.
func (s *simulation) id(n int) handle.ID {
	if e, ok := pick(s.spec.entries, n); ok {
		return e.id
	}
	return handle.Make(s.reg.Scope(), 0, 1)
}

func (s *simulation) do(op byte, n int) {
	switch op % 16 {
	case 0:
		s.reserve()
	case 1:
		s.insert()
	case 2, 3:
		if c, ok := pick(s.openings, n); ok {
			s.finish(c, op%16 == 2)
		}
	case 4, 5, 6, 7:
		s.acquire(s.id(n/int(modes)), mode(n%int(modes)))
	case 8, 9:
		if c, ok := pick(s.leases, n); ok {
			s.release(c)
		}
	case 10:
		if c, ok := pick(s.callers[1:], n); ok {
			s.note("cancel %d", c.number)
			c.cancel()
			s.spec.cancel(c.number)
		}
	case 11:
		s.retire(s.id(n))
	case 12:
		if e, ok := pick(s.orphans, n); ok {
			s.dispose(e)
		}
	case 13:
		if n < 40 { // seldom, since little is left to do after it
			s.close()
		}
	case 14:
		s.note("%d00ms later", n%16)
		time.Sleep(time.Duration(n%16) * 100 * time.Millisecond)
		s.spec.tick()
	default:
		s.watch(n%4 == 0)
	}
}

func (s *simulation) reserve() {
	c := s.newCaller()
	c.lease, c.err = s.reg.Reserve()
	c.done, c.seen = true, true
	s.note("%d: reserve, %v", c.number, c.err)
	if s.spec.closed != errors.Is(c.err, ioerr.ErrShutdown) {
		s.t.Errorf("Reserve: %v, closed %t", c.err, s.spec.closed)
	}
	if c.err == nil {
		s.named(c.lease.Entry, c.number)
		s.openings = append(s.openings, c)
	}
}

func (s *simulation) insert() {
	e, err := s.reg.Insert(len(s.spec.entries))
	s.note("insert, %v", err)
	if s.spec.closed != errors.Is(err, ioerr.ErrShutdown) {
		s.t.Errorf("Insert: %v, closed %t", err, s.spec.closed)
	}
	if err == nil {
		s.named(e, 0)
	}
}

// named checks that the ID of a new entry is new and adds it to the spec.
func (s *simulation) named(e *registry.Entry[int], opener int) {
	if s.spec.find(e.ID) != nil {
		s.t.Errorf("ID %v was given out twice", e.ID)
	}
	e.Resource = len(s.spec.entries)
	s.spec.add(e.ID, opener)
}

func (s *simulation) finish(c *caller, opened bool) {
	s.openings = without(s.openings, c)
	e := s.spec.find(c.lease.ID)
	if !opened {
		s.note("abort %d", c.number)
		s.reg.Abort(c.lease)
		s.spec.abort(e)
		return
	}
	s.note("commit %d", c.number)
	s.inherited("Commit", c.lease.Entry, c.lease.Commit(), s.spec.release(e))
}

func (s *simulation) acquire(id handle.ID, m mode) {
	c := s.newCaller()
	s.note("%d: acquire %v in mode %d", c.number, id, m)
	ctx, cancel := context.WithCancel(s.t.Context())
	c.cancel = cancel
	q := lanegate.Request{NoWait: m == noWait, FailFast: m == failFast}
	switch m {
	case cancelled:
		cancel()
	case expiring:
		q.Expire = time.Now().Add(time.Second)
	case expired:
		q.Expire = time.Now()
	case wait, noWait, failFast, modes:
	}
	s.spec.acquire(c.number, id, m)
	go func() {
		c.lease, c.err = s.reg.Acquire(ctx, id, &q)
		c.done = true
	}()
}

func (s *simulation) release(c *caller) {
	s.note("release %d", c.number)
	s.leases = without(s.leases, c)
	s.inherited("Release", c.lease.Entry, c.lease.Release(), s.spec.release(s.spec.find(c.lease.ID)))
}

func (s *simulation) retire(id handle.ID) {
	s.note("retire %v", id)
	e, orphan := s.reg.Retire(id)
	found, want := false, false
	if x := s.spec.find(id); x != nil {
		found, want = s.spec.retire(x)
	}
	if (e != nil) != found {
		s.t.Errorf("Retire found %t, want %t", e != nil, found)
	}
	s.inherited("Retire", e, orphan, want)
}

func (s *simulation) close() {
	s.note("close")
	got := s.reg.Close()
	want := s.spec.close()
	for _, e := range got {
		s.inherited("Close", e, true, slices.Contains(want, e.ID))
	}
	if len(got) != len(want) {
		s.t.Errorf("Close gave %d orphans, want %d", len(got), len(want))
	}
}

func (s *simulation) inherited(from string, e *registry.Entry[int], got, want bool) {
	if got != want {
		s.t.Errorf("%s: orphan %t, want %t", from, got, want)
	}
	if got {
		s.orphans = append(s.orphans, e)
	}
}

func (s *simulation) dispose(e *registry.Entry[int]) {
	s.note("dispose %v", e.ID)
	s.orphans = without(s.orphans, e)
	s.reg.Disposed(e, nil)
	s.spec.find(e.ID).disposed = true
}

func (s *simulation) watch(cancelOne bool) {
	if w, ok := pick(s.watchers, 0); ok && cancelOne {
		s.note("cancel a watcher")
		w.cancel()
		s.watchers = s.watchers[1:]
		return
	}
	s.note("watch")
	w := new(watcher)
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(s.t.Context())
	s.watchers = append(s.watchers, w)
	go func() {
		w.empty = s.reg.WaitEmpty(ctx)
		w.done = true
	}()
}
