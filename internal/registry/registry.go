// Package registry keeps the resources of one pool: it names them, lends each to
// one holder at a time, or to as many as there are shares, and sees to it that every
// resource is given up exactly once.
//
// # Who owns a resource
//
// An [Entry] goes from opening to held or idle, and from there for good to
// retired. Its gate (one slot for each share) tells which:
//
//	opening  reserved; the opener holds the lease, nobody finds a resource yet
//	idle     in the table, gate open, slot free
//	held     in the table, gate open, slot taken: the holder may touch the resource
//	retired  out of the table, gate closed: no new holder, waiters refused
//
// A retired resource belongs to whoever found it free: [Registry.Retire] if it
// was idle, else the [Lease.Release] of its last holder, which can be an
// [Registry.Acquire] that came too late to use it. The gate's mutex decides that,
// so exactly one of them reports it and nobody gives up a resource that is in use.
// That one then disposes of the resource and calls [Registry.Disposed].
//
// # Shares
//
// With one slot the opener of an entry, and whoever keeps one from others ([Registry.Bar]),
// does so by holding that slot. With several this is not enough, so such an entry says by
// itself whether it lends. Until Commit it does not, and its ID names nothing yet. Who
// looks at it before it is barred, and takes a slot after that, was there before.
//
// # Locks
//
// The registry's mutex guards the table's shape and the sets; looking an ID up
// takes no lock. A gate is closed under it, before its entry leaves the table: who
// finds an ID gone may count on it that nobody is lent the resource any more.
// Nothing else is done with gates under it, and nothing that the user wrote. The
// mutexes of gates and latches are leaves below it.
package registry

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/handle"
	"github.com/iolane/iolane/internal/lanegate"
	"github.com/iolane/iolane/internal/signal"
	"github.com/iolane/iolane/ioerr"
)

// Registry holds resources of type R. Use [New].
type Registry[R any] struct {
	scope   uint64
	gate    lanegate.Config // of each entry
	tickets lanegate.Tickets

	table  atomic.Pointer[[]atomic.Pointer[Entry[R]]] // replaced by a longer copy, never shrunk
	none   []atomic.Pointer[Entry[R]]                 // the first table, empty
	closed atomic.Bool                                // set under mu; read alone by those who find nothing

	mu       sync.Mutex
	gens     []uint32               // the last generation given out for each slot
	free     []uint32               // slots without an entry
	live     int                    // entries in the table
	retiring map[*Entry[R]]struct{} // out of the table, not yet disposed of
	empty    signal.Crowd           // who waits until live and retiring are empty
}

// New returns an empty registry whose entries let at most waiters callers wait.
// The scope is drawn at random: unlike a counter it needs no state outside the
// registry, and tells IDs of other processes apart as well.
func New[R any](waiters int, patience time.Duration) *Registry[R] {
	return NewShared[R](1, waiters, patience)
}

// NewShared is New for entries that as many as share may hold at a time.
func NewShared[R any](share, waiters int, patience time.Duration) *Registry[R] {
	r := new(Registry[R])
	for r.scope == 0 {
		r.scope = rand.Uint64()
	}
	r.gate = lanegate.Config{Slots: share, Waiters: waiters, Patience: patience, Tickets: &r.tickets}
	r.table.Store(&r.none)
	return r
}

// shared reports whether an entry may have several holders.
func (r *Registry[R]) shared() bool { return r.gate.Slots > 1 }

// Scope is the scope of all IDs of the registry, never zero.
func (r *Registry[R]) Scope() uint64 { return r.scope }

// Reserve makes an entry in the state opening and hands its lease to the caller,
// who ends it with Commit or Abort. The error is ErrShutdown.
func (r *Registry[R]) Reserve() (Lease[R], error) {
	e := &Entry[R]{gate: lanegate.New(r.gate)}
	e.lends.Store(!r.shared())
	slot, _ := e.gate.Try() // a new gate has a free slot
	if err := r.insert(e); err != nil {
		return Lease[R]{}, err
	}
	return Lease[R]{e, slot}, nil
}

// Insert makes an idle entry of a resource. The error is ErrShutdown.
func (r *Registry[R]) Insert(resource R) (*Entry[R], error) {
	e := &Entry[R]{gate: lanegate.New(r.gate), Resource: resource}
	e.ready.Store(true)
	e.lends.Store(true)
	return e, r.insert(e)
}

// Check says whether id could name a resource of this registry: nil,
// ErrScopeMismatch, or ErrHandleNotFound for the zero ID.
func (r *Registry[R]) Check(id handle.ID) error {
	switch {
	case id.IsZero():
		return ioerr.ErrHandleNotFound
	case id.Scope() != r.scope:
		return ioerr.ErrScopeMismatch
	}
	return nil
}

// Has reports whether id names a resource that can be acquired.
func (r *Registry[R]) Has(id handle.ID) bool {
	e := r.find(id)
	return e != nil && e.ready.Load() && !e.gate.Closed()
}

// Try lends the resource to the caller if it is free and nobody has a better
// right. False means only that Acquire has to look.
func (r *Registry[R]) Try(id handle.ID) (Lease[R], bool) {
	if e := r.find(id); e != nil && e.lends.Load() {
		if slot, ok := e.gate.Try(); ok {
			return Lease[R]{e, slot}, true
		}
	}
	return Lease[R]{}, false
}

// Acquire lends the resource to the caller, waiting in its line. The error is
// ErrShutdown, ErrScopeMismatch, ErrHandleNotFound, ErrHandleBusy (with
// FailFast), ErrReentry (with NoWait), ErrWaitersFull, ErrAcceptTimeout or
// ctx.Err(). ErrShutdown comes before all others.
//
// Nothing is lent to a caller whose context ended while it waited. If that was in
// the moment that the resource was lent to it and retired, the caller inherits it,
// as with Release: then Entry is set beside the error.
func (r *Registry[R]) Acquire(ctx context.Context, id handle.ID, q *lanegate.Request) (Lease[R], error) {
	e := r.find(id)
	if e == nil || r.shared() && !e.ready.Load() {
		return Lease[R]{}, r.missing(id)
	}
	if err := e.Barred(); err != nil && !r.closed.Load() {
		return Lease[R]{}, err
	}
	mine := *q
	mine.Inherits, mine.Owner = true, e.owner()
	slot, v := e.gate.Acquire(ctx, &mine)
	switch {
	case v == lanegate.Closed && !e.gate.Closed() && !r.closed.Load():
		if err := e.Barred(); err != nil {
			return Lease[R]{}, err
		}
		return r.Acquire(ctx, id, q) // it was barred for a moment, and is not any more
	case v != lanegate.Granted:
		return Lease[R]{}, r.refusal(ctx, v)
	case e.gate.Closed() && lanegate.HasEnded(ctx):
		var orphan Lease[R]
		if slot.Release() {
			orphan.Entry = e
		}
		return orphan, r.refusal(ctx, lanegate.Ended)
	}
	return Lease[R]{e, slot}, nil
}

// missing is the error for an ID that is not in the table.
func (r *Registry[R]) missing(id handle.ID) error {
	if r.closed.Load() {
		return ioerr.ErrShutdown
	}
	if err := r.Check(id); err != nil {
		return err
	}
	return ioerr.ErrHandleNotFound
}

func (r *Registry[R]) refusal(ctx context.Context, v lanegate.Verdict) error {
	if r.closed.Load() {
		return ioerr.ErrShutdown
	}
	switch v {
	case lanegate.Full:
		return ioerr.ErrHandleBusy
	case lanegate.Overloaded:
		return ioerr.ErrWaitersFull
	case lanegate.Busy:
		return ioerr.ErrReentry
	case lanegate.Expired:
		return ioerr.ErrAcceptTimeout
	case lanegate.Ended:
		return cmp.Or(ctx.Err(), context.Canceled)
	case lanegate.Closed, lanegate.Hopeless, lanegate.Granted:
	}
	return ioerr.ErrHandleNotFound
}

// Stats is one snapshot of a registry.
type Stats struct {
	Live     int // resources in use or idle, and those being opened
	Retiring int // retired, not yet disposed of
}

// AnyHeld reports whether somebody holds a lease. It looks at every entry.
func (r *Registry[R]) AnyHeld() bool {
	table := *r.table.Load()
	for i := range table {
		if e := table[i].Load(); e != nil && e.Held() {
			return true
		}
	}
	for _, e := range r.Retiring() {
		if e.Held() {
			return true
		}
	}
	return false
}

// Stats returns a snapshot.
func (r *Registry[R]) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{Live: r.live, Retiring: len(r.retiring)}
}

// State is what is to be told of one entry.
type State struct {
	ID      handle.ID
	Holders int // of a lease
	Retired bool
	Waiting int   // callers
	Barred  error // the refusal of an entry that is barred; or nil
}

// Snapshot returns the states of all entries, each taken at its own time.
func (r *Registry[R]) Snapshot() []State {
	entries := r.Retiring()
	table := *r.table.Load()
	for i := range table {
		if e := table[i].Load(); e != nil {
			entries = append(entries, e)
		}
	}
	states := make([]State, 0, len(entries))
	for _, e := range entries {
		s := State{ID: e.ID, Retired: e.Retired(), Barred: e.Barred()}
		if e.gate != nil {
			g := e.gate.Stats()
			s.Holders, s.Waiting = g.Running, g.Queued+g.Waiting
		}
		states = append(states, s)
	}
	return states
}

// Retiring returns the entries that are not yet disposed of, in no order.
func (r *Registry[R]) Retiring() []*Entry[R] {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*Entry[R], 0, len(r.retiring))
	for e := range r.retiring {
		list = append(list, e)
	}
	return list
}
