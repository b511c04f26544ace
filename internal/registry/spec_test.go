package registry_test

import (
	"context"
	"slices"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/registry"
	"github.com/iolane/iolane/ioerr"
)

// spec is the registry as one would explain it to somebody: one thing at a time,
// lists, and no thought of speed. Callers are numbers, nobody is 0.
type spec struct {
	waiters int
	closed  bool
	entries []*specEntry
	answers map[int]error // of the callers that have one; nil: holds a lease
}

type specEntry struct {
	id       handle.ID
	opening  bool
	gone     bool // retired
	disposed bool
	holder   int
	line     []specWaiter
}

type specWaiter struct {
	caller int
	expire time.Time
}

// mode is how a caller acquires.
type mode int

const (
	wait mode = iota
	noWait
	failFast
	cancelled // before it comes
	expiring  // in a second
	expired   // before it comes
	modes
)

// add makes an entry held by the given caller, who opens it; nobody if it is idle.
func (s *spec) add(id handle.ID, opener int) {
	s.entries = append(s.entries, &specEntry{id: id, opening: opener != 0, holder: opener})
}

func (s *spec) find(id handle.ID) *specEntry {
	for _, e := range s.entries {
		if e.id == id {
			return e
		}
	}
	return nil
}

func (s *spec) acquire(caller int, id handle.ID, m mode) {
	e := s.find(id)
	switch {
	case s.closed:
		s.answers[caller] = ioerr.ErrShutdown
	case e == nil || e.gone:
		s.answers[caller] = ioerr.ErrHandleNotFound
	case e.holder == 0:
		e.holder = caller
		s.answers[caller] = nil
	case m == noWait:
		s.answers[caller] = ioerr.ErrReentry
	case m == failFast:
		s.answers[caller] = ioerr.ErrHandleBusy
	case len(e.line) == s.waiters:
		s.answers[caller] = ioerr.ErrWaitersFull
	case m == cancelled:
		s.answers[caller] = context.Canceled
	case m == expired:
		s.answers[caller] = ioerr.ErrAcceptTimeout
	case m == expiring:
		e.line = append(e.line, specWaiter{caller, time.Now().Add(time.Second)})
	default:
		e.line = append(e.line, specWaiter{caller: caller})
	}
}

// release is the end of a lease, or of an opening that succeeded.
func (s *spec) release(e *specEntry) (orphan bool) {
	e.opening, e.holder = false, 0
	if e.gone {
		return true
	}
	if len(e.line) > 0 {
		e.holder = e.line[0].caller
		s.answers[e.holder] = nil
		e.line = e.line[1:]
	}
	return false
}

func (s *spec) abort(e *specEntry) {
	s.retire(e)
	e.opening, e.holder, e.disposed = false, 0, true
}

func (s *spec) retire(e *specEntry) (found, orphan bool) {
	if e.gone {
		return false, false
	}
	e.gone = true
	s.leave(func(at *specEntry, _ specWaiter) bool { return at == e }, ioerr.ErrHandleNotFound)
	return true, e.holder == 0
}

func (s *spec) close() (orphans []handle.ID) {
	if s.closed {
		return nil
	}
	s.closed = true
	s.leave(func(*specEntry, specWaiter) bool { return true }, ioerr.ErrShutdown)
	for _, e := range s.entries {
		if _, orphan := s.retire(e); orphan {
			orphans = append(orphans, e.id)
		}
	}
	return orphans
}

// leave takes waiters out of their lines.
func (s *spec) leave(who func(*specEntry, specWaiter) bool, why error) {
	for _, e := range s.entries {
		e.line = slices.DeleteFunc(e.line, func(w specWaiter) bool {
			leaves := who(e, w)
			if leaves {
				s.answers[w.caller] = why
			}
			return leaves
		})
	}
}

func (s *spec) cancel(caller int) {
	s.leave(func(_ *specEntry, w specWaiter) bool { return w.caller == caller }, context.Canceled)
}

// tick lets the callers leave whose time has come.
func (s *spec) tick() {
	s.leave(func(_ *specEntry, w specWaiter) bool {
		return !w.expire.IsZero() && !time.Now().Before(w.expire)
	}, ioerr.ErrAcceptTimeout)
}

func (s *spec) stats() (st registry.Stats) {
	for _, e := range s.entries {
		switch {
		case !e.gone:
			st.Live++
		case !e.disposed:
			st.Retiring++
		}
	}
	return st
}
