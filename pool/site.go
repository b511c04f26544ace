package pool

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/fileop"
	"github.com/iolane/iolane/ioerr"
)

// site is what a call holds while it runs: a slot of the pool's lane and, in a
// transaction, the lease of a handle.
type site struct {
	core  *core
	id    handle.ID                   // zero outside transactions
	plain mark                        // ready for callers without a context of their own
	inner context.Context             // what these get: plain, if the pool is guarded
	_     [64]byte                    // apart from what every call reads
	last  atomic.Pointer[ioerr.Error] // of the last call here that failed by itself

	// For the holder of the lease; unused outside transactions. With shares there are
	// several: then verdict is never written, opening only before the first share is lent.
	verdict verdict
	opening bool                                           // the call opens a resource, and uses none; nobody is judged here
	bar     func(label string, began time.Time, why error) // bars the handle; nil if nobody is judged
	poison  func(cause error)                              // of a resource with shares, at once; else nil
}

func (s *site) init(c *core, id handle.ID) {
	s.core, s.id = c, id
	s.plain = mark{Context: context.Background(), site: s}
	if s.inner = &s.plain; c.unguarded {
		s.inner = context.Background()
	}
}

// begin returns the context of a call here, and the mark if it is one that has to be
// ended with the call. plain says that the caller's is context.Background().
func (s *site) begin(ctx context.Context, plain bool) (context.Context, *mark) {
	switch {
	case plain:
		return s.inner, nil
	case s.core.unguarded:
		return ctx, nil
	}
	m := &mark{Context: ctx, site: s}
	return m, m
}

// failed is the error of a call here that returned err, counted.
func (s *site) failed(err error, label string) error {
	if label != "" || s.core.judges && !s.id.IsZero() {
		e := s.core.failure(err, label, s.id)
		_ = s.core.count(e) // before Bad, which may end the goroutine
		s.blame(err)
		return e
	}
	return s.core.count(s.failure(err))
}

// failure is the error of a call without a label that ran and failed by itself. A
// program that fails often fails with the same error value each time (io.EOF, an
// errno), so the last one is kept and told again if it fits: that costs a failing
// call no allocation. It is kept, with whatever it refers to, until another one comes.
func (s *site) failure(err error) *ioerr.Error {
	if e := s.last.Load(); e != nil && identicalErrors(e.Err, err) {
		return e
	}
	e := s.core.failure(err, "", s.id)
	if !s.blame(err) {
		s.last.Store(e)
	}
	return e
}

// blame notes what a failure has to say about the resource, and reports whether it is
// poisoned.
func (s *site) blame(err error) bool {
	if _, off := err.(*fileop.CalledOffError); off || s.id.IsZero() { //nolint:errorlint // as it is: nothing wraps it
		return false
	}
	v := &s.verdict
	p := poisonIn(err)
	switch {
	case p == nil:
	case s.poison == nil:
		v.told, v.poison = true, p.err
	case !s.opening:
		s.poison(p.err)
	}
	if s.core.judges && !s.opening {
		v.err, v.bad = err, true
		v.bad = !v.broken && s.core.judge(s.id, err)
	}
	return p != nil
}

// blameUnwound notes that a call did not return.
func (s *site) blameUnwound(err error) {
	if s.core.judges && !s.id.IsZero() && !s.opening {
		s.verdict.err, s.verdict.bad = err, true
	}
}

// unwound is the error of a call here that did not return, counted: recovered is what
// recover gave. With runtime.Goexit that is nil and the error reaches nobody, since the
// caller's goroutine is the one that ends.
func (s *site) unwound(recovered any, label string) error {
	c := s.core
	e := c.failure(unwoundBy(recovered), label, s.id)
	s.blameUnwound(e.Err)
	err := c.count(e)
	if recovered == nil {
		c.counts.exited.Add(1)
	} else {
		c.counts.panicked.Add(1)
	}
	return err
}

// unwoundBy is the error for what recover gave: nil for runtime.Goexit.
func unwoundBy(recovered any) error {
	if recovered == nil {
		return ioerr.ErrGoexit
	}
	return &ioerr.PanicError{Value: recovered, Stack: debug.Stack()}
}
